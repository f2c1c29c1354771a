import { describe, expect, test } from "vitest";
import { TOKEN_SCOPES, type TokenScope } from "../../src/domain/access/token-scope.ts";
import { ask } from "./support/ask.ts";
import { type Endpoint, PAGES, PROTECTED } from "./support/endpoints.ts";
import { serve } from "./support/fakes.ts";

/** Scope of each route, repeated by hand, so that a new route is added on purpose. */
const OPERATIONS_BY_SCOPE: Readonly<Record<TokenScope, readonly string[]>> = {
  read: [
    "getCall",
    "listCalls",
    "listCallEvents",
    "getRecording",
    "getInstance",
    "listInstances",
    "listEvents",
    "listWebhooks",
    "getWebhook",
    "listWebhookDeliveries",
    "listBatches",
    "getBatch",
    "planBatch",
    "listTargets",
    "getAudio",
    "listAudio",
    "getConsent",
    "listConsents",
    "listVoices",
    "hearVoice",
    "simulatorArtefact",
  ],
  call: [
    ...["createCall", "endCall", "streamCall", "createStreamTicket", "listenToCall", "simulatorPhone"],
    ...["createBatch", "deleteBatch", "startBatch", "pauseBatch", "resumeBatch", "cancelBatch"],
    ...["addTargets", "updateTarget", "removeTarget", "createAudio", "deleteAudio"],
  ],
  admin: [
    "createInstance",
    "updateInstance",
    "deleteInstance",
    "configureInstance",
    "unlinkInstance",
    "createLinkPage",
    "createPairingCode",
    "deleteRecording",
    "createWebhook",
    "updateWebhook",
    "deleteWebhook",
    "rotateWebhookSecret",
    "testWebhook",
    "replayWebhookDelivery",
    "putConsent",
    "deleteConsent",
  ],
};

const idsOf = (scope: TokenScope): string[] =>
  PROTECTED.filter(({ route }) => route.operation.access === scope).map(({ route }) => route.operation.id);

/** The response to a token with these scopes. */
async function requestWith(scopes: readonly TokenScope[] | undefined, { method, address }: Endpoint) {
  const principal = { userId: "usr_anna", tokenId: "tok_1", ...(scopes && { scopes }) };
  const { app } = serve({ http: { pages: [PAGES], authenticate: async () => principal } });
  return ask(app, { method, path: address });
}

test.each(TOKEN_SCOPES)("the scope %s is for these operations and no others", (scope) => {
  expect(idsOf(scope).sort()).toEqual([...OPERATIONS_BY_SCOPE[scope]].sort());
});

describe.each(PROTECTED)("$method $path", (endpoint) => {
  const { access } = endpoint.route.operation;
  const otherScopes = TOKEN_SCOPES.filter((scope) => scope !== access);

  test("refuses a token with all other scopes", async () => {
    const { status, json, headers } = await requestWith(otherScopes, endpoint);
    expect([status, json.code]).toEqual([403, "insufficient_scope"]);
    expect(headers["www-authenticate"]).toBe(`Bearer error="insufficient_scope", scope="${access}"`);
    expect(json.detail).toBe(
      `this request needs a token with the scope "${access}"; this one has: ${otherScopes.join(", ")}`,
    );
  });

  test("accepts a token with its scope alone, and one without a list of scopes", async () => {
    for (const scopes of [[access as TokenScope], undefined])
      expect((await requestWith(scopes, endpoint)).text).not.toContain("insufficient_scope");
  });
});

test("a demo token with the scope read cannot place calls", async () => {
  const authenticate = async () => ({ userId: "usr_anna", demoInstanceId: "inst_1", scopes: ["read"] as const });
  const { app } = serve({ http: { authenticate } });
  expect((await ask(app, { method: "POST", path: "/v1/calls", body: "{}" })).json.code).toBe("insufficient_scope");
});
