import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SessionState } from "../../../adapters/console/api.ts";
import { pageAfter, redirectOf } from "../../../adapters/console/app/pages/all-pages.ts";

const signedOutSession: Pick<SessionState, "account" | "accounts" | "registration" | "sign_in_url"> = {
  account: null,
  accounts: true,
  registration: "invitation",
  sign_in_url: null,
};
const account = { id: "acct_1", email: "ana@example.com", role: "member", created_at: "2026-11-27T00:00:00Z" } as const;

describe("a page for accounts", () => {
  test("is shown to the signed-in user", () => {
    expect(redirectOf({ access: "signed-in" }, "/calls", { ...signedOutSession, account })).toBeUndefined();
  });

  test("sends others to the sign-in and back", () => {
    expect(redirectOf({ access: "signed-in" }, "/calls?status=FAILED", signedOutSession)).toEqual({
      page: "/sign-in?next=%2Fcalls%3Fstatus%3DFAILED",
    });
  });

  test("sends the first user to the registration", () => {
    expect(redirectOf({ access: "signed-in" }, "/", { ...signedOutSession, registration: "first" })).toEqual({
      page: "/register",
    });
  });

  test("sends users to the sign-in of the embedding program", () => {
    const embeddedSession = { ...signedOutSession, accounts: false, sign_in_url: "https://shop.example/login" };
    for (const access of ["signed-in", "signed-out"] as const)
      expect(redirectOf({ access }, "/", embeddedSession)).toEqual({ url: "https://shop.example/login" });
  });

  test("that needs Ringport accounts is not shown to the embedding program's users", () => {
    const embeddedSession = {
      ...signedOutSession,
      accounts: false,
      sign_in_url: "https://shop.example/login",
      account,
    };
    expect(redirectOf({ access: "signed-in", accounts: true }, "/tokens", embeddedSession)).toEqual({ page: "/" });
    expect(redirectOf({ access: "signed-in" }, "/calls", embeddedSession)).toBeUndefined();
  });
});

describe("a page for signed-out visitors", () => {
  test("is shown to people without a session", () => {
    expect(redirectOf({ access: "signed-out" }, "/sign-in", signedOutSession)).toBeUndefined();
  });

  test("continues to the requested page", () => {
    const session = { ...signedOutSession, account };
    expect(redirectOf({ access: "signed-out" }, "/sign-in?next=%2Fcalls%3Fstatus%3DFAILED", session)).toEqual({
      page: "/calls?status=FAILED",
    });
  });

  test.each(["//evil.example", "/\\evil.example", "https://evil.example", "javascript:alert(1)", ""])(
    "does not continue to %j",
    (next) => {
      expect(pageAfter(`/sign-in?next=${encodeURIComponent(next)}`)).toBe("/");
    },
  );

  test("stays on this server, whatever the address", () => {
    fc.assert(
      fc.property(fc.string(), (next) => {
        const page = pageAfter(`/sign-in?next=${encodeURIComponent(next)}`);
        expect(new URL(page, "https://ringport.example").origin).toBe("https://ringport.example");
      }),
    );
  });
});
