import { expect, test } from "bun:test";
import { RequestCounter, toRoute } from "../../../lib/simulator/xenorchestra/requests.ts";

test.each([
  ["/rest/v0/vms", "GET /vms"],
  ["/rest/v0/vms/", "GET /vms"],
  ["/rest/v0/vms/abc", "GET /vms/{id}"],
  ["/rest/v0/users/abc/authentication_tokens", "GET /users/{id}/authentication_tokens"],
  ["/rest/v0/events", "GET /events"],
  ["/rest/v0/events/abc/subscriptions", "GET /events/{id}/subscriptions"],
  ["/rest/v0/docs/swagger.json", "GET /docs/swagger.json"],
  ["/other", "GET /other"],
])("toRoute() of %p is %p", (path, route) => {
  expect(toRoute("GET", path)).toBe(route);
});

test("RequestCounter counts by route", () => {
  const counter = new RequestCounter();
  for (const route of ["GET /vms", "GET /vms", "GET /pools"]) counter.add(route);
  expect([...counter.byRoute]).toEqual([
    ["GET /vms", 2],
    ["GET /pools", 1],
  ]);
  expect([counter.total, counter.count("GET /vms"), counter.count("GET /x")]).toEqual([3, 2, 0]);
});
