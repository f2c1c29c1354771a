import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { matchPath } from "../../../adapters/console/app/pages/all-pages.ts";

describe("a page's pattern", () => {
  test.each([
    ["/", "/", {}],
    ["/calls", "/calls", {}],
    ["/calls/:id", "/calls/call_1", { id: "call_1" }],
    ["/calls/:id", "/calls/a%2Fb", { id: "a/b" }],
    ["/calls/:id", "/calls/", undefined],
    ["/calls/:id", "/calls/%E0%A4%A", undefined],
    ["/calls/new", "/calls/call_1", undefined],
    ["/calls", "/calls/call_1", undefined],
  ])("%s matches %s with %o", (pattern, path, params) => {
    expect(matchPath(pattern, path)).toEqual(params);
  });

  test("decodes any id", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: "grapheme" }), (id) => {
        expect(matchPath("/calls/:id", `/calls/${encodeURIComponent(id)}`)).toEqual({ id });
      }),
    );
  });

  test("never throws, whatever the address", () => {
    fc.assert(fc.property(fc.string(), (path) => void matchPath("/calls/:id", path)));
  });
});
