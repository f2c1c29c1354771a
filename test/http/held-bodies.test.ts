import { afterEach, describe, expect, test } from "vitest";
import { DEFAULT_LIMITS } from "../../src/domain/limits.ts";
import { Refusal } from "../../src/domain/refusal.ts";
import type { Reply } from "../../src/ports/web.ts";
import { ManualSystem } from "../../src/testing/manual-system.ts";
import { decodedReply } from "./support/ask.ts";
import { CREATED, call, serve } from "./support/fakes.ts";

const KB = 1024;
const LARGE_BYTES = 100 * KB;
const limits = { ...DEFAULT_LIMITS, allBodiesBytes: 4 * LARGE_BYTES, userBodiesBytes: 2 * LARGE_BYTES };
const spaces = (bytes: number) => new Uint8Array(bytes).fill(32);

/** A body that the test sends piece by piece. */
function manualBody() {
  const pieces: Uint8Array[] = [];
  let onReturn: (() => void) | undefined;
  let wake = () => {};
  let isEnded = false;
  let failure: Error | undefined;
  const body: AsyncIterable<Uint8Array> = {
    [Symbol.asyncIterator]: () => ({
      async next() {
        for (;;) {
          const value = pieces.shift();
          if (value) return { done: false, value };
          if (failure) throw failure;
          if (isEnded) return { done: true, value: undefined };
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      },
      async return() {
        onReturn?.();
        return { done: true, value: undefined };
      },
    }),
  };
  return {
    body,
    left: new Promise<void>((resolve) => {
      onReturn = resolve;
    }),
    send(bytes: Uint8Array) {
      pieces.push(bytes);
      wake();
    },
    end() {
      isEnded = true;
      wake();
    },
    breakOff() {
      failure = new Error("ECONNRESET");
      wake();
    },
  };
}

function world() {
  const system = new ManualSystem();
  const { app } = serve({
    calls: {
      create: async (_, input) => {
        if (Object.hasOwn(input, "refuse")) throw new Refusal("instance_not_found", "there is no such instance");
        return { ...call(), ...CREATED };
      },
    },
    http: { limits, system, authenticate: async (token) => ({ userId: token }) },
  });
  const post = (user: string, body: AsyncIterable<Uint8Array>, headers: Record<string, string> = {}) =>
    app.handle({
      method: "POST",
      url: "http://h/v1/calls",
      headers: new Headers({ authorization: `Bearer ${user}`, ...headers }),
      body,
    });
  /** A request without its last bytes. */
  const hold = (user: string, bytes = LARGE_BYTES, missing = 1) => {
    const source = manualBody();
    source.send(spaces(bytes - missing));
    const reply = post(user, source.body, { "content-length": String(bytes) });
    return { ...source, reply };
  };
  /** The reply to a whole body. */
  const send = (user: string, bytes = LARGE_BYTES, text = "{}") => {
    const { reply, ...source } = hold(user, bytes, text.length);
    source.send(new TextEncoder().encode(text));
    source.end();
    return reply;
  };
  return { system, post, hold, send };
}

const turns = async () => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setTimeout(resolve));
};
const codeOf = (reply: Reply) => decodedReply(reply).json.code;

describe("unfinished uploads of one user", () => {
  test("the user's next upload is refused unread; another user's is not", async () => {
    const { hold, send, post } = world();
    hold("ada");
    hold("ada");
    await turns();
    let isRead = false;
    const body = (async function* () {
      isRead = true;
      yield spaces(LARGE_BYTES);
    })();
    const refusal = await post("ada", body, { "content-length": String(LARGE_BYTES) });
    expect([refusal.status, codeOf(refusal)]).toEqual([503, "server_busy"]);
    expect(refusal.headers).toMatchObject({ "retry-after": "5", connection: "close" });
    expect(isRead).toBe(false);
    expect((await send("bob")).status).toBe(201);
  });

  test("an upload without a length counts as its bytes arrive", async () => {
    const { post, send } = world();
    const source = manualBody();
    const reply = post("ada", source.body);
    source.send(spaces(45 * KB));
    source.send(spaces(20 * KB));
    await turns();
    expect((await send("ada", 2 * LARGE_BYTES - 130 * KB + 1)).status).toBe(503);
    expect((await send("ada", 2 * LARGE_BYTES - 130 * KB)).status).toBe(201);
    source.send(new TextEncoder().encode("{}"));
    source.end();
    expect((await reply).status).toBe(201);
    expect((await send("ada", 2 * LARGE_BYTES)).status).toBe(201);
  });

  test("an upload above the budget is read no further", async () => {
    const { post, hold } = world();
    hold("ada");
    await turns();
    const source = manualBody();
    const reply = post("ada", source.body);
    source.send(spaces(40 * KB));
    source.send(spaces(80 * KB));
    expect(codeOf(await reply)).toBe("server_busy");
    await source.left;
  });
});

test("large bodies never cause the refusal of a small body", async () => {
  const { hold, send } = world();
  hold("ada", 2 * LARGE_BYTES);
  hold("bob");
  await turns();
  expect(codeOf(await send("eve"))).toBe("server_busy");
  expect((await send("eve", 60 * KB)).status).toBe(201);
});

test("a body above the budget gets 413", async () => {
  const { send } = world();
  expect((await send("ada", 2 * LARGE_BYTES)).status).toBe(201);
  expect(codeOf(await send("ada", 2 * LARGE_BYTES + 1))).toBe("body_too_large");
});

describe("a body's bytes", () => {
  const { system, hold, send, post } = world();
  afterEach(async () => expect((await send("ada", 2 * LARGE_BYTES)).status).toBe(201));

  test("the bytes are released with the reply, before any garbage collection", async () => {
    for (let request = 0; request < 10; request++) expect((await send("ada", 2 * LARGE_BYTES)).status).toBe(201);
  });

  test("the bytes are released after a break", async () => {
    const upload = hold("ada", 2 * LARGE_BYTES);
    await turns();
    upload.breakOff();
    expect(codeOf(await upload.reply)).toBe("invalid_json");
  });

  test("the bytes are released after invalid JSON", async () => {
    expect(codeOf(await send("ada", LARGE_BYTES, "{"))).toBe("invalid_json");
  });

  test("the bytes are released after a refusal", async () => {
    expect(codeOf(await send("ada", LARGE_BYTES, '{"refuse":1}'))).toBe("instance_not_found");
  });

  test("the bytes are released if the body exceeds its announced length", async () => {
    const source = manualBody();
    source.send(spaces(3 * LARGE_BYTES));
    expect(codeOf(await post("ada", source.body, { "content-length": "10" }))).toBe("body_too_large");
  });

  test("the bytes are released if the body stalls for 30 s", async () => {
    const upload = hold("ada", 2 * LARGE_BYTES);
    await turns();
    await system.advance(29_999);
    expect((await send("ada", LARGE_BYTES)).status).toBe(503);
    await system.advance(1);
    const reply = await upload.reply;
    expect([reply.status, codeOf(reply), reply.headers.connection]).toEqual([408, "request_timeout", "close"]);
    await upload.left;
  });

  test("the bytes are released if the body takes more than 2 minutes", async () => {
    const source = manualBody();
    const reply = post("ada", source.body, { "content-length": String(2 * LARGE_BYTES) });
    for (let seconds = 0; seconds < 120; seconds += 20) {
      source.send(spaces(1));
      await turns();
      expect((await send("ada", LARGE_BYTES)).status).toBe(503);
      await system.advance(20_000);
    }
    expect(decodedReply(await reply).json).toMatchObject({
      code: "request_timeout",
      detail: "the body was not complete within 120 s",
    });
  });
});
