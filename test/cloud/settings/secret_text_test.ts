import { describe, expect, test } from "bun:test";
import { explainOddSecret, explainSecret } from "../../../lib/cloud/settings/secret_text.ts";

describe("explainSecret()", () => {
  test.each([
    ["", "is blank"],
    [" \n", "is blank"],
    ["s3crét", "not ASCII"],
    ["s3c ret", "a blank"],
    ["s3c\nret", "a line break"],
    ["s3c\0ret", "control character"],
  ])("says what is wrong with %j without repeating it", (text, problem) => {
    expect(explainSecret(text)).toContain(problem);
    expect(explainSecret(text)).not.toMatch(/s3c|ret/);
  });

  test("accepts every visible ASCII character, and blanks around them", () => {
    const all = Array.from({ length: 94 }, (_, at) => String.fromCharCode(0x21 + at)).join("");
    expect(explainSecret(` ${all}\n`)).toBeUndefined();
  });
});

describe("explainOddSecret()", () => {
  test.each([
    ["/etc/landfall/token", "looks like a path: name the file of a token in tokenFile"],
    ["./token", "looks like a path: name the file of a token in tokenFile"],
    ["../token", "looks like a path: name the file of a token in tokenFile"],
    ["$XOA_TOKEN", "looks like a variable that was not replaced"],
    ["${XOA_TOKEN}", "looks like a variable that was not replaced"],
  ])("says of %s what it looks like", (text, what) => {
    expect(explainOddSecret(text, "a token", "tokenFile")).toBe(what);
  });

  test.each(["", "abc/def", "a/b+c==", "//x", "$", "Xx0-_9bR3kq7", "a$b"])(
    "says nothing of %p",
    (text) => {
      expect(explainOddSecret(text, "a token", "tokenFile")).toBeUndefined();
    },
  );
});
