import { describe, expect, test } from "vitest";
import { describeEach, ON_NODE, ON_OTHER_RUNTIMES, useServer } from "../support/server.ts";
import { expected } from "../support/server-client.ts";
import { type HttpResponse, send } from "../support/server-http.ts";

/** Headers that a page of the console sends with its requests. */
const FROM_PAGE = { "sec-fetch-site": "same-origin", "content-type": "application/json" };
const PERSON = { email: "ada@example.com", password: "correct horse battery staple" };

describeEach([ON_NODE, ...ON_OTHER_RUNTIMES], (target) => {
  describe("the console", () => {
    const server = useServer(target, { env: { RINGPORT_STREAM_PREVIEW: "1" } });
    const requestConsole = (method: string, path: string, body?: object, cookie = ""): Promise<HttpResponse> =>
      send(method, `${server.base}/console${path}`, {
        headers: { ...FROM_PAGE, ...(cookie && { cookie }) },
        body: body && JSON.stringify(body),
      });

    test("is the target of the front page, with files that browsers cache", async () => {
      const frontPage = await send("GET", `${server.base}/`);
      expect([frontPage.status, frontPage.headers.location]).toEqual([302, "/console"]);
      const page = expected(200, await send("GET", `${server.base}/console`, { headers: { accept: "text/html" } }));
      const [, script = ""] = /<script type="module" src="([^"]+)"/.exec(page.text) ?? [];
      const file = await send("GET", server.base + script, { headers: { "accept-encoding": "br, gzip" } });
      expect(file.headers).toMatchObject({
        "content-type": "text/javascript; charset=utf-8",
        "content-encoding": "br",
        "cache-control": "public, max-age=31536000, immutable",
      });
    });

    test("registers the first person, whose token works", async () => {
      const { stdout } = await server.cli("account", "code");
      const code = new URL(stdout.trim()).hash.slice("#code=".length);
      const registration = expected(200, await requestConsole("POST", "/api/register", { ...PERSON, code }));
      expect(registration.json()).toMatchObject({ account: { email: PERSON.email, role: "admin" } });
      const [cookie = ""] = (registration.headers["set-cookie"] ?? "").split(";");
      expect((await requestConsole("GET", "/v1/instances", undefined, cookie)).json()).toEqual([]);
      const creation = expected(201, await requestConsole("POST", "/api/tokens", { label: "mine" }, cookie));
      const { token } = creation.json<{ token: string }>();
      const authorization = `Bearer ${token}`;
      expect((await send("GET", `${server.base}/v1/instances`, { headers: { authorization } })).status).toBe(200);
      expect((await send("GET", `${server.base}/v1/instances`, { headers: { cookie } })).status).toBe(401);
      const refusal = await send("POST", `${server.base}/console/api/tokens`, { headers: { cookie }, body: "{}" });
      expect(refusal.json()).toMatchObject({ status: 403, code: "cross_site" });
      const headers = { cookie, accept: "text/event-stream" };
      const eventStream = await fetch(`${server.base}/console/v1/events`, { headers });
      expect((await requestConsole("POST", "/api/sign-out", {}, cookie)).status).toBe(204);
      expect([eventStream.status, await eventStream.text()]).toEqual([200, expect.stringContaining("retry:")]); // and it ends
      expect((await requestConsole("GET", "/v1/instances", undefined, cookie)).status).toBe(401);
    });

    test("refuses a WebSocket without a session, and one from another site", async () => {
      const url = `${server.base}/console/v1/calls/call_01kb000000000000000000000a/stream`;
      const handshake = {
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
      };
      const refusalOf = async (headers: Record<string, string>) => {
        const response = await send("GET", url, { headers: { ...handshake, ...headers } });
        return [response.status, response.json().code];
      };
      expect(await refusalOf({ origin: server.base })).toEqual([401, "unauthorized"]);
      expect(await refusalOf({ origin: "https://evil.example" })).toEqual([403, "cross_site"]);
      expect(await refusalOf({})).toEqual([403, "cross_site"]);
    });
  });
});
