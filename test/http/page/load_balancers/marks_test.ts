import { expect, test } from "bun:test";
import {
  LoadBalancerMark,
  toLoadBalancerPath,
} from "../../../../lib/http/page/load_balancers/marks.tsx";

test("LoadBalancerMark() shows a state by shape and word, and that it goes", () => {
  const html = String(LoadBalancerMark({ state: "failing", isLeaving: false }));
  expect(html).toBe('<span class="mark s-failing">failing</span>');
  expect(String(LoadBalancerMark({ state: "working", isLeaving: true }))).toContain(
    "working, being removed",
  );
});

test("toLoadBalancerPath() encodes what may stand in no path", () => {
  const path = toLoadBalancerPath("../", { namespace: "a/b", name: "ü?" });
  expect(path).toBe("../load-balancers/a%2Fb/%C3%BC%3F");
});
