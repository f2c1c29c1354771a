import { describe, expect, test } from "vitest";
import { useLocalServer } from "../../support/local-server.ts";
import {
  expectProblem,
  ID,
  KEYS,
  keysOf,
  MISSING_IDS,
  pointersOf,
  sorted,
  TIMESTAMP,
} from "../../support/response-shapes.ts";
import {
  type CallView,
  type Client,
  expected,
  HELLO,
  type InstanceView,
  LISTENER,
  until,
} from "../../support/server-client.ts";
import { bytesOf } from "../../support/server-http.ts";
import { loudness, readWav, toneWav } from "../../support/server-sound.ts";

const TONE = toneWav({ ms: 200 }).toString("base64");

/** Required fields of each type besides the instance and the number. */
const TYPES = {
  FIXED_TTS: { tts: HELLO },
  FIXED_AUDIO: { audio: { audioBase64: TONE } },
  DYNAMIC_STREAM: {},
  DYNAMIC_AGENT: { agent: { instructions: ["Greet the caller.", "Say goodbye."] } },
} as const;

const server = useLocalServer();

describe("POST /v1/calls", () => {
  for (const [type, fields] of Object.entries(TYPES))
    test(`a ${type} call gets 201 with the queued call and its location`, async () => {
      const client = await server.as("ada");
      const { id } = await client.createInstance();
      const response = await client.post("/v1/calls", {
        instanceId: id,
        type,
        target: { phoneNumber: LISTENER },
        ...fields,
      });
      expect(response.status).toBe(201);
      const call = response.json<CallView>();
      expect(keysOf(call)).toEqual(sorted(KEYS.createdCall));
      expect(call).toMatchObject({ instance_id: id, type, status: "QUEUED", target_phone: LISTENER });
      expect(call.id).toMatch(ID.call);
      expect(call.created_at).toMatch(TIMESTAMP);
      expect(response.headers.location).toBe(`/v1/calls/${call.id}`);
      expect(response.headers["content-type"]).toBe("application/json");
    });

  test("an active call is returned with 200, and no other is created", async () => {
    const client = await server.as("ada");
    const { id } = await client.createInstance();
    const call = await client.call(id);
    const secondResponse = await client.postCall(id, {
      type: "DYNAMIC_STREAM",
      target: { phoneNumber: "+12025550101" },
    });
    expect(secondResponse.status).toBe(200);
    expect(secondResponse.json()).toEqual(call);
    expect(secondResponse.headers.location).toBeUndefined();
    const list = expected(200, await client.get(`/v1/calls?instance_id=${id}`)).json<CallView[]>();
    expect(list).toHaveLength(1);
  });

  test("the next call is created once the active one has ended", async () => {
    const client = await server.as("ada");
    const { id } = await client.createInstance();
    const first = await client.call(id);
    expect((await client.delete(`/v1/calls/${first.id}`)).status).toBe(204);
    expect((await client.call(id)).id).not.toBe(first.id);
  });

  test("a missing content type and any +json type are read as JSON", async () => {
    const client = await server.as("ada");
    for (const headers of [
      {},
      { "content-type": "application/json; charset=UTF-8" },
      { "content-type": "application/x+json" },
    ]) {
      const response = await client.send("POST", "/v1/instances", { headers, body: '{"name":"x"}' });
      expect(response.status).toBe(201);
    }
  });

  test("Base64 may have a data: prefix of any type", async () => {
    const client = await server.as("ada");
    const { id } = await client.createInstance();
    await client.call(id, { type: "FIXED_AUDIO", audio: { audioBase64: `data:image/gif;base64,${TONE}` } });
  });

  test("unknown fields are ignored, and refused under Prefer: handling=strict", async () => {
    const client = await server.as("ada");
    const [first, second] = [await client.createInstance(), await client.createInstance()];
    await client.call(first.id, { audio: 7, agent: { instructions: [] }, colour: "red" });
    const strictResponse = await client.postCall(second.id, { colour: "red" }, { prefer: "handling=strict" });
    expect(pointersOf(expectProblem(strictResponse, 400, "invalid_request"))).toEqual(["/colour"]);
  });

  const withTts = (tts: unknown) => ({ type: "FIXED_TTS", tts });
  const withAudio = (audio: unknown) => ({ type: "FIXED_AUDIO", audio });
  const withInstructions = (instructions: unknown) => ({ type: "DYNAMIC_AGENT", agent: { instructions } });
  const withNumber = (phoneNumber: unknown) => ({ target: { phoneNumber } });
  test.for<[what: string, changes: Record<string, unknown>, pointers: string[], code?: string]>([
    ["a missing instanceId", { instanceId: undefined }, ["/instanceId"]],
    ["an instanceId of the wrong type", { instanceId: 5 }, ["/instanceId"]],
    ["a missing type", { type: undefined }, ["/type"]],
    ["an unknown type", { type: "FIXED_VIDEO" }, ["/type"]],
    ["a type in lower case", { type: "fixed_tts" }, ["/type"]],
    ["a missing number", { target: {} }, ["/target/phoneNumber"]],
    ["a number of the wrong type", withNumber(12025550100), ["/target/phoneNumber"]],
    ["a number without +", withNumber("12025550100"), ["/target/phoneNumber"], "phone_number_invalid"],
    ["a number with spaces", withNumber("+1 202 555 0100"), ["/target/phoneNumber"], "phone_number_invalid"],
    ["a number that begins with 0", withNumber("+0202555010"), ["/target/phoneNumber"], "phone_number_invalid"],
    ["a number of 6 digits", withNumber("+120255"), ["/target/phoneNumber"], "phone_number_invalid"],
    ["a number of 16 digits", withNumber("+1202555010012345"), ["/target/phoneNumber"], "phone_number_invalid"],
    ["a number with a line break", withNumber("+12025550100\n"), ["/target/phoneNumber"], "phone_number_invalid"],
    ["a number in Arabic digits", withNumber("+١٢٠٢٥٥٥٠١٠٠"), ["/target/phoneNumber"], "phone_number_invalid"],
    ["missing tts", withTts(undefined), ["/tts"]],
    ["missing text and voice", withTts({}), ["/tts/text", "/tts/voiceId"]],
    ["an empty text", withTts({ ...HELLO, text: "" }), ["/tts/text"]],
    ["a text of 4097 characters", withTts({ ...HELLO, text: "a".repeat(4097) }), ["/tts/text"]],
    ["a text with nothing to speak", withTts({ ...HELLO, text: " …!?🦜" }), ["/tts/text"]],
    ["a text of the wrong type", withTts({ ...HELLO, text: ["a"] }), ["/tts/text"]],
    ["a malformed voice", withTts({ ...HELLO, voiceId: "english" }), ["/tts/voiceId"]],
    ["voice number 0", withTts({ ...HELLO, voiceId: "en-US-0" }), ["/tts/voiceId"]],
    ["an unavailable voice", withTts({ ...HELLO, voiceId: "en-US-99" }), ["/tts/voiceId"], "voice_unavailable"],
    ["an unavailable language", withTts({ ...HELLO, voiceId: "qq-QQ-1" }), ["/tts/voiceId"], "voice_unavailable"],
    ["missing audio", withAudio(undefined), ["/audio"]],
    ["missing Base64", withAudio({}), ["/audio/audioBase64"]],
    ["empty Base64", withAudio({ audioBase64: "" }), ["/audio/audioBase64"], "audio_unsupported"],
    [
      "Base64 of no bytes",
      withAudio({ audioBase64: "data:audio/wav;base64," }),
      ["/audio/audioBase64"],
      "audio_unsupported",
    ],
    [
      "Base64 with a line break",
      withAudio({ audioBase64: `${TONE.slice(0, 76)}\n${TONE.slice(76)}` }),
      ["/audio/audioBase64"],
      "audio_unsupported",
    ],
    ["Base64 in the URL alphabet", withAudio({ audioBase64: "_-_-" }), ["/audio/audioBase64"], "audio_unsupported"],
    ["Base64 without padding", withAudio({ audioBase64: "AAAAA" }), ["/audio/audioBase64"], "audio_unsupported"],
    [
      "a text file",
      withAudio({ audioBase64: btoa("hello, world. ".repeat(100)) }),
      ["/audio/audioBase64"],
      "audio_unsupported",
    ],
    ["missing instructions", { type: "DYNAMIC_AGENT" }, ["/agent"]],
    ["no instructions", withInstructions([]), ["/agent/instructions"]],
    ["101 instructions", withInstructions(Array(101).fill("x")), ["/agent/instructions"]],
    ["an empty instruction", withInstructions(["x", ""]), ["/agent/instructions/1"]],
    ["an instruction of 4001 characters", withInstructions(["x", "y".repeat(4001)]), ["/agent/instructions/1"]],
    ["an instruction of the wrong type", withInstructions(["x", 1]), ["/agent/instructions/1"]],
    [
      "three faults at once",
      { ...withNumber("1"), ...withTts({ text: "", voiceId: "x" }) },
      ["/target/phoneNumber", "/tts/text", "/tts/voiceId"],
    ],
    [
      "an unknown type and a wrong number",
      { type: "X", ...withNumber("1"), instanceId: 5 },
      ["/instanceId", "/target/phoneNumber", "/type"],
    ],
  ])("%s is refused with 400 and a pointer to it", async ([, changes, pointers, code]) => {
    const client = await server.as("faulty");
    const { id } = (await instancesOf(client)).at(0) ?? (await client.createInstance());
    const before = await server.rows();
    const response = await client.postCall(id, changes);
    expect(response.status).toBe(400);
    const problem = expectProblem(response, 400, response.json().code as string, "/v1/calls");
    expect(pointersOf(problem)).toEqual(pointers);
    if (code) expect(problem.errors?.[0]?.code).toBe(code);
    expect(await server.rows()).toEqual(before);
  });

  test("a missing target is refused with a pointer", async () => {
    const client = await server.as("faulty");
    const { id } = await client.createInstance();
    const problem = expectProblem(await client.postCall(id, { target: undefined }), 400, "invalid_request");
    expect(pointersOf(problem)).toHaveLength(1);
    expect(problem.errors?.[0]?.pointer).toMatch(/^\/target(\/phoneNumber)?$/);
  });

  test("the refusal of an unavailable voice names the language's voices", async () => {
    const client = await server.as("ada");
    const { id } = await client.createInstance();
    const response = await client.postCall(id, { tts: { text: "Hello", voiceId: "en-US-99" } });
    expect(expectProblem(response, 400, "voice_unavailable").detail).toContain("en-US-1");
  });

  test.for<[what: string, body: string, headers: Record<string, string>, status: number, code: string]>([
    ["a body that is not JSON", "{", {}, 400, "invalid_json"],
    ["no body", "", {}, 400, "invalid_json"],
    ["an array", "[]", {}, 400, "invalid_json"],
    ["a string", '"x"', {}, 400, "invalid_json"],
    ["a number", "7", {}, 400, "invalid_json"],
    ["a body that is not UTF-8", "\xff", {}, 400, "invalid_json"],
    [
      "another content type",
      "a=b",
      { "content-type": "application/x-www-form-urlencoded" },
      415,
      "unsupported_media_type",
    ],
    ["text/plain", "{}", { "content-type": "text/plain" }, 415, "unsupported_media_type"],
    ["another charset", "{}", { "content-type": "application/json; charset=utf-16" }, 415, "unsupported_media_type"],
    ["a compressed body", "{}", { "content-encoding": "gzip" }, 415, "unsupported_media_type"],
  ])("%s is refused with %i", async ([, body, headers, status, code]) => {
    const client = await server.as("faulty");
    const before = await server.rows();
    for (const path of ["/v1/calls", "/v1/instances"]) {
      const response = await client.send("POST", path, { headers, body: Buffer.from(body, "latin1") });
      expectProblem(response, status, code, path);
    }
    expect(await server.rows()).toEqual(before);
  });

  test("a body over the limit is refused with 413, which names the limit", async () => {
    const client = await server.as("ada");
    const limit = 16 * 1024 * 1024;
    for (const headers of [{ "content-length": String(limit + 1) }, { "transfer-encoding": "chunked" }]) {
      const response = await client.send("POST", "/v1/calls", { headers, body: () => bytesOf(limit + 1) });
      expect(expectProblem(response, 413, "body_too_large", "/v1/calls")).toMatchObject({ limit });
    }
    const fittingResponse = await client.send("POST", "/v1/calls", { body: Buffer.alloc(limit, " ") });
    expectProblem(fittingResponse, 400, "invalid_json", "/v1/calls");
  });

  test.for([MISSING_IDS.instance, MISSING_IDS.call, "inst_", "x", "' or 1=1 --"])(
    "the unknown instance %s is refused with 404",
    async (instanceId) => {
      const response = await (await server.as("ada")).postCall(instanceId);
      expectProblem(response, 404, "instance_not_found", "/v1/calls");
    },
  );

  test("input is checked before the instance, audio before the active call", async () => {
    const client = await server.as("ada");
    const noise = { type: "FIXED_AUDIO", audio: { audioBase64: btoa("noise") } };
    expectProblem(await client.postCall(MISSING_IDS.instance, { target: {} }), 400, "invalid_request");
    expectProblem(await client.postCall(MISSING_IDS.instance, noise), 404, "instance_not_found");
    const { id } = await client.createInstance();
    expectProblem(await client.postCall(id, noise), 400, "audio_unsupported");
    await client.call(id);
    expectProblem(await client.postCall(id, noise), 400, "audio_unsupported");
    expectProblem(await client.postCall(id, { tts: { text: "x", voiceId: "en-US-99" } }), 400, "voice_unavailable");
  });
});

describe("GET /v1/calls/:callId", () => {
  test("the call has exactly its fields, null for those still unknown", async () => {
    const client = await server.as("ada");
    const createdCall = await client.call((await client.createInstance()).id);
    const call = expected(200, await client.get(`/v1/calls/${createdCall.id}`)).json();
    expect(keysOf(call)).toEqual(sorted(KEYS.call));
    expect(call).toEqual({ ...createdCall, started_at: null, ended_at: null });
  });

  test("expand adds the named objects only", async () => {
    const client = await server.as("ada");
    const { id } = await client.call((await client.createInstance()).id);
    for (const names of ["outcome", "media", "transcript", "outcome,transcript,media"]) {
      const call = expected(200, await client.get(`/v1/calls/${id}?expand=${names}`)).json();
      expect(keysOf(call)).toEqual(sorted([...KEYS.call, ...names.split(",")]));
      if (names.includes("outcome")) expect(call.outcome).toBeNull();
    }
    expectProblem(await client.get(`/v1/calls/${id}?expand=outcome,secrets`), 400, "invalid_request");
  });
});

describe("DELETE /v1/calls/:callId", () => {
  test("a hang-up gets 204 without a body; the call is FAILED/terminated permanently", async () => {
    const client = await server.as("ada");
    const { id } = await client.call((await client.createInstance()).id);
    const path = `/v1/calls/${id}`;
    const response = await client.delete(path);
    expect({ status: response.status, body: response.text }).toEqual({ status: 204, body: "" });
    const endedCall = await client.readCall(id);
    expect(endedCall).toMatchObject({ status: "FAILED", started_at: null, outcome: { reason: "terminated" } });
    expect(keysOf(endedCall.outcome)).toEqual(sorted(KEYS.outcome));
    expect(endedCall.ended_at).toMatch(TIMESTAMP);
    expectProblem(await client.delete(path), 404, "call_not_found", path);
    expect(await client.readCall(id)).toEqual(endedCall);
  });
});

test.for([
  ["GET", `/v1/calls/${MISSING_IDS.call}`],
  ["DELETE", `/v1/calls/${MISSING_IDS.call}`],
  ["GET", `/v1/calls/${MISSING_IDS.call}/events`],
  ["GET", `/simulator/calls/${MISSING_IDS.call}/heard.wav`],
  ["GET", "/v1/calls/nonsense"],
  ["GET", `/v1/calls/${MISSING_IDS.instance}`],
  ["DELETE", "/v1/calls/%00"],
] as const)("%s %s responds 404", async ([method, path]) => {
  expectProblem(await (await server.as("ada")).send(method, path), 404, "call_not_found", path);
});

describe("GET /v1/calls/:callId/events", () => {
  test("the timeline has its fields, is oldest first, and has pages", async () => {
    const client = await server.as("ada");
    const instance = await client.createInstance();
    const { id } = await client.call(instance.id);
    expect((await client.delete(`/v1/calls/${id}`)).status).toBe(204);
    const events = await client.timeline(id);
    expect(events.map(({ type }) => type)).toEqual(["queued", "failed"]);
    for (const event of events) {
      expect(keysOf(event)).toEqual(sorted(KEYS.event));
      expect(event).toMatchObject({ call_id: id, instance_id: instance.id });
      expect(event.id).toMatch(ID.event);
      expect(event.timestamp).toMatch(TIMESTAMP);
    }
    expect(events[1]!.data).toMatchObject({ reason: "terminated" });
    const page = expected(200, await client.get(`/v1/calls/${id}/events?limit=1`));
    expect(page.json()).toEqual(events.slice(0, 1));
    const nextPage = expected(200, await client.get(nextUrlOf(page.headers.link)));
    expect(nextPage.json()).toEqual(events.slice(1));
    expect(nextPage.headers.link).toBeUndefined();
  });
});

describe("GET /v1/calls", () => {
  test("pages list each call once, newest first, while more are created", async () => {
    const client = await server.as("pager");
    const { id } = await client.createInstance();
    const createdIds: string[] = [];
    const createCalls = async (count: number) => {
      for (let i = 0; i < count; i++) {
        const call = await client.call(id, { type: "DYNAMIC_STREAM" });
        createdIds.unshift(call.id);
        expect((await client.delete(`/v1/calls/${call.id}`)).status).toBe(204);
      }
    };
    await createCalls(23);
    const idsBefore = [...createdIds];
    const listedCalls: CallView[] = [];
    let path: string | undefined = "/v1/calls?limit=5";
    while (path) {
      const page = expected(200, await client.get(path));
      listedCalls.push(...page.json<CallView[]>());
      path = page.headers.link && nextUrlOf(page.headers.link);
      await createCalls(1);
    }
    expect(listedCalls.map((call) => call.id)).toEqual(idsBefore);
    for (const call of listedCalls) expect(keysOf(call)).toEqual(sorted(KEYS.call));
    const allCalls = expected(200, await client.get("/v1/calls?limit=200")).json<CallView[]>();
    expect(allCalls.map((call) => call.id)).toEqual(createdIds);
  });

  test("a page has 50 calls by default, and at most 200", async () => {
    const client = await server.as("counter");
    const { id } = await client.createInstance();
    for (let i = 0; i < 51; i++) {
      const call = await client.call(id, { type: "DYNAMIC_STREAM" });
      expect((await client.delete(`/v1/calls/${call.id}`)).status).toBe(204);
    }
    const page = expected(200, await client.get("/v1/calls"));
    expect(page.json<CallView[]>()).toHaveLength(50);
    expect(expected(200, await client.get(nextUrlOf(page.headers.link))).json<CallView[]>()).toHaveLength(1);
    const problem = expectProblem(await client.get("/v1/calls?limit=201"), 400, "invalid_request", "/v1/calls");
    expect(problem.errors).toMatchObject([{ pointer: "", parameter: "limit" }]);
  });

  test("calls are filtered by instance, status, type and time", async () => {
    const client = await server.as("filterer");
    const [firstInstance, secondInstance] = [await client.createInstance(), await client.createInstance()];
    const failedCall = await client.call(firstInstance.id, { type: "DYNAMIC_STREAM" });
    expect((await client.delete(`/v1/calls/${failedCall.id}`)).status).toBe(204);
    await until(Date.now, (now) => now > Date.parse(failedCall.created_at), 1_000, "the next millisecond");
    const waitingCall = await client.call(firstInstance.id);
    const otherCall = await client.call(secondInstance.id);
    const idsFor = async (query: string) =>
      expected(200, await client.get(`/v1/calls?${query}`))
        .json<CallView[]>()
        .map(({ id }) => id);
    expect(await idsFor("")).toEqual([otherCall.id, waitingCall.id, failedCall.id]);
    expect(await idsFor(`instance_id=${firstInstance.id}`)).toEqual([waitingCall.id, failedCall.id]);
    expect(await idsFor("status=FAILED")).toEqual([failedCall.id]);
    expect(await idsFor("status=QUEUED&type=FIXED_TTS")).toEqual([otherCall.id, waitingCall.id]);
    expect(await idsFor("type=DYNAMIC_STREAM")).toEqual([failedCall.id]);
    expect(await idsFor(`created_after=${failedCall.created_at}`)).toEqual([otherCall.id, waitingCall.id]);
    expect(await idsFor(`created_before=${waitingCall.created_at}`)).toEqual([failedCall.id]);
    expect(await idsFor(`instance_id=${MISSING_IDS.instance}`)).toEqual([]);
    const [expandedCall] = expected(200, await client.get("/v1/calls?status=FAILED&expand=outcome")).json<CallView[]>();
    expect(expandedCall?.outcome).toMatchObject({ reason: "terminated" });
  });

  test.for([
    ["limit=0"],
    ["limit=x"],
    ["limit=5&limit=6"],
    ["cursor=x"],
    ["status=RUNNING"],
    ["type=X"],
    ["instance_id=x"],
    ["created_after=yesterday"],
    ["created_before=2026-02-30T00:00:00Z"],
  ])("the query ?%s is refused with 400", async ([query]) => {
    const response = await (await server.as("ada")).get(`/v1/calls?${query}`);
    expect(expectProblem(response, 400, "invalid_request", "/v1/calls").errors).toHaveLength(1);
  });
});

describe("GET /v1/voices", () => {
  test("the list has the documented voices", async () => {
    const voices = expected(200, await (await server.as("ada")).get("/v1/voices")).json<{ id: string }[]>();
    for (const voice of voices) expect(keysOf(voice)).toEqual(sorted(KEYS.voice));
    expect(voices.map(({ id }) => id)).toEqual(expect.arrayContaining(["en-US-1", "en-US-2", "pt-BR-1", "es-ES-1"]));
  });

  test("each voice has the URL of its sample, a WAV file", async () => {
    const client = await server.as("ada");
    const voices = expected(200, await client.get("/v1/voices")).json<{ id: string; sample_url: string }[]>();
    const etags = new Set<string>();
    for (const id of ["en-US-1", "pt-BR-1"]) {
      const { pathname } = new URL(voices.find((voice) => voice.id === id)!.sample_url);
      const response = expected(200, await client.get(pathname));
      expect(response.headers["content-type"]).toBe("audio/wav");
      const sound = readWav(response.body);
      expect(sound.sampleRate).toBe(16_000);
      const seconds = sound.samples.length / sound.sampleRate;
      expect(seconds).toBeGreaterThan(1.5);
      expect(seconds).toBeLessThan(8);
      expect(loudness(sound)).toBeGreaterThan(300);
      etags.add(response.headers.etag!);
      const secondResponse = await client.get(pathname, { "if-none-match": response.headers.etag! });
      expect([secondResponse.status, secondResponse.text]).toEqual([304, ""]);
    }
    expect(etags.size).toBe(2);
    const path = "/v1/voices/pt-BR-99/sample.wav";
    expect(expectProblem(await client.get(path), 404, "voice_not_found", path).detail).toContain("pt-BR-1");
  });
});

async function instancesOf(client: Client): Promise<InstanceView[]> {
  return expected(200, await client.get("/v1/instances")).json();
}

/** The address of the next page (RFC 8288). */
function nextUrlOf(link: string | undefined): string {
  const nextUrl = /^<([^>]+)>; rel="next"$/.exec(link ?? "")?.[1];
  if (!nextUrl) throw new Error(`no next page in Link: ${link}`);
  return nextUrl;
}
