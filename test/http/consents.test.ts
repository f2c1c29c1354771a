import { describe, expect, test } from "vitest";
import { Refusal, type RefusalCode } from "../../src/domain/refusal.ts";
import { PROBLEMS } from "../../src/http/problems/problem-table.ts";
import { ask } from "./support/ask.ts";
import { CONSENT_PHONE, consent } from "./support/consent-fakes.ts";
import { serve } from "./support/fakes.ts";

const EXPECTED_SHAPE = {
  phone: CONSENT_PHONE,
  status: "granted",
  source: "web form",
  created_at: "2026-01-31T12:00:00.000Z",
  updated_at: "2026-01-31T12:00:00.000Z",
};
const consentPath = `/v1/consents/${encodeURIComponent(CONSENT_PHONE)}`;

describe("PUT /v1/consents/:phone", () => {
  const put = (path: string, body: unknown = { status: "granted", source: "web form" }) =>
    ask(serve().app, { method: "PUT", path, body });

  test("responds 201 for the first consent for a number, and 200 for a replacement", async () => {
    expect(await put("/v1/consents/+12025550199")).toMatchObject({
      status: 201,
      headers: { location: "/v1/consents/%2B12025550199" },
      json: { ...EXPECTED_SHAPE, phone: "+12025550199" },
    });
    const replacement = await put(consentPath);
    expect(replacement).toMatchObject({ status: 200, json: EXPECTED_SHAPE });
    expect(replacement.headers.location).toBeUndefined();
  });

  test("also accepts an unescaped plus", async () => {
    expect(await put(`/v1/consents/${CONSENT_PHONE}`)).toMatchObject({ status: 200, json: { phone: CONSENT_PHONE } });
  });

  test.each([
    "phone_number_invalid",
    "value_invalid",
    "demo_token_restricted",
    "consent_quota",
  ] satisfies RefusalCode[])("the refusal %s becomes its problem document", async (code) => {
    const put = () => Promise.reject(new Refusal(code, "because"));
    const { status, json } = await ask(serve({ consents: { put } }).app, {
      method: "PUT",
      path: consentPath,
      body: {},
    });
    expect([status, json.code]).toEqual([PROBLEMS[code].status, code]);
  });
});

describe("a consent", () => {
  test("is read without its user", async () => {
    expect(await ask(serve().app, { path: consentPath })).toMatchObject({ status: 200, json: EXPECTED_SHAPE });
    const unknownReply = await ask(serve().app, { path: "/v1/consents/+12025550199" });
    expect([unknownReply.status, unknownReply.json.code]).toEqual([404, "consent_not_found"]);
  });

  test("is deleted with 204", async () => {
    expect((await ask(serve().app, { method: "DELETE", path: consentPath })).status).toBe(204);
    const unknownReply = await ask(serve().app, { method: "DELETE", path: "/v1/consents/+12025550199" });
    expect([unknownReply.status, unknownReply.json.code]).toEqual([404, "consent_not_found"]);
  });

  test("is listed in pages, filtered by status", async () => {
    const requests: unknown[] = [];
    const list = async (_: unknown, filter: unknown, page: unknown) => {
      requests.push([filter, page]);
      return [consent(), consent({ phone: "+12025550101" })];
    };
    const { app } = serve({ consents: { list } });
    const first = await ask(app, { path: "/v1/consents?limit=1&status=granted" });
    expect(first.json).toEqual([EXPECTED_SHAPE]);
    const [, next = ""] = /^<([^>]+)>; rel="next"$/.exec(first.headers.link ?? "") ?? [];
    await ask(app, { path: next });
    expect(requests).toEqual([
      [{ status: "granted" }, { limit: 2, after: undefined }],
      [{ status: "granted" }, { limit: 2, after: CONSENT_PHONE }],
    ]);
  });

  test.each(["status=maybe", "limit=0", "limit=1001", "cursor=x", `cursor=${btoa("inst_1").replaceAll("=", "")}`])(
    "is not listed with the query %s",
    async (query) => {
      const { status, json } = await ask(serve().app, { path: `/v1/consents?${query}` });
      expect([status, json.code]).toEqual([400, "invalid_request"]);
    },
  );
});
