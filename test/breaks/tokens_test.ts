import { expect, test } from "bun:test";
import { readTokens, renameTokens } from "./tokens.ts";

/** Members in capitals, variables in brackets. */
function show(code: string, within?: "{" | "("): string {
  return readTokens(code, within)
    .map(({ text, role }) =>
      role === undefined ? text : role === "member" ? text.toUpperCase() : `[${text}]`,
    )
    .join(" ");
}

test.each([
  ["a.b?.c(this.#d)", "[a] . B ?. C ( this . #D )"],
  ["a.delete(of, undefined)", "[a] . DELETE ( [of] , undefined )"],
  ["f({ a: b, c, ...d })", "[f] ( { A : [b] , C : [c] , ... [d] } )"],
  ["const { a, b: c } = d;", "const { A : [a] , B : [c] } = [d] ;"],
  ["[a, b]; f(a, b); { a; b = 1; }", "[ [a] , [b] ] ; [f] ( [a] , [b] ) ; { [a] ; [b] = 1 ; }"],
  ["f({ a }, [{ b: [c, d], e }])", "[f] ( { A : [a] } , [ { B : [ [c] , [d] ] , E : [e] } ] )"],
  ["`${a}b${{ c }}`", "`${ [a] }b${ { C : [c] } }`"],
  ["a /* b */ ? c : d // e", "[a] ? [c] : [d]"],
  ["f(a, [b,],); x = /[(]/u.test(y)", "[f] ( [a] , [ [b] ] ) ; [x] = /[(]/u . TEST ( [y] )"],
  ["a as Set<string>", "[a] [as] Set < string >"],
])("readTokens() of %s", (code, shown) => {
  expect(show(code)).toBe(shown);
});

test("readTokens() takes the edges of a piece for what stands between commas in an object", () => {
  expect(show("a: b }, c", "{")).toBe("A : [b] } , C : [c]");
  expect(show("a: b }, c", "(")).toBe("[a] : [b] } , [c]");
});

test("renameTokens() keeps the layout, and writes the short form of a member only where it can", () => {
  const code = "f( { name, uid: id } ) // name\n";
  expect(renameTokens(code, ({ text }) => `${text}2`)).toBe("f2( { name2, uid2: id2 } ) // name\n");
  expect(renameTokens(code, ({ text, role }) => (role === "member" ? text : `${text}2`))).toBe(
    "f2( { name: name2, uid: id2 } ) // name\n",
  );
});
