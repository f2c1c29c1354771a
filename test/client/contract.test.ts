import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import type { Client, ClientErrorCode, Page, StreamCallEvent } from "ringport/client";
import type * as v from "valibot";
import { describe, expect, expectTypeOf, test } from "vitest";
import type { CallStatus, CallType } from "../../src/domain/calls/call.ts";
import type { CreateCallInput } from "../../src/domain/calls/call-input.ts";
import type { CreateInstanceInput } from "../../src/domain/instances/instance-input.ts";
import type { ProblemCode } from "../../src/http/problems/problem-kind.ts";
import type { NamedResponses, View } from "../../src/http/response-types.ts";
import type { SCHEMAS, SchemaName } from "../../src/http/views/all-shapes.ts";
import type { CALL_EXPANSIONS } from "../../src/http/views/call-view.ts";

declare const getAnything: Calls["get"];
type Instances = Client["instances"];
type Calls = Client["calls"];
type ResponseOf<M extends (...args: never[]) => unknown> = Awaited<ReturnType<M>>;
type ItemOf<M extends (...args: never[]) => AsyncIterable<unknown>> =
  ReturnType<M> extends AsyncIterable<infer Item> ? Item : never;

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Deep<T> = T extends object ? { [K in keyof T]: Deep<T[K]> } : T;
type Shape<Name extends SchemaName> = v.InferInput<(typeof SCHEMAS)[Name]>;
/** The responses whose schema and generated type differ. The data of each event is checked in event-shapes.ts. */
type Mismatch = {
  [Name in Exclude<keyof NamedResponses | SchemaName, "Event" | "EventList">]: Name extends keyof NamedResponses &
    SchemaName
    ? Equal<Deep<Shape<Name>>, Deep<NamedResponses[Name]>> extends true
      ? never
      : Name
    : Name;
}[Exclude<keyof NamedResponses | SchemaName, "Event" | "EventList">];

/** tsc checks these; running them has no effect. */
test("the generated types equal the schemas' types", () => {
  expectTypeOf<Mismatch>().toBeNever();
});

test("the client has the input and output types of the HTTP interface", () => {
  expectTypeOf<Parameters<Instances["create"]>[0]>().toEqualTypeOf<CreateInstanceInput>();
  expectTypeOf<ResponseOf<Instances["create"]>>().toEqualTypeOf<View<"Instance">>();
  expectTypeOf<ResponseOf<Instances["get"]>>().toEqualTypeOf<View<"InstanceDetails">>();
  expectTypeOf<ResponseOf<Instances["configure"]>>().toEqualTypeOf<View<"LinkingCode">>();
  expectTypeOf<ResponseOf<Instances["page"]>>().toEqualTypeOf<Page<View<"Instance">>>();
  expectTypeOf<ItemOf<Instances["list"]>>().toEqualTypeOf<View<"Instance">>();

  expectTypeOf<Parameters<Calls["create"]>[0]>().toEqualTypeOf<CreateCallInput>();
  expectTypeOf<ResponseOf<Calls["create"]>>().toEqualTypeOf<View<"CreatedCall">>();
  expectTypeOf<ResponseOf<Calls["events"]>>().toEqualTypeOf<View<"EventList">>();
  const requests = (calls: Calls) => ({
    plain: () => calls.get("call_1"),
    expanded: () => calls.get("call_1", { expand: ["outcome", "media"] }),
    list: () => calls.list(),
    page: () => calls.page({ expand: ["outcome"] }),
  });
  type Reads = ReturnType<typeof requests>;
  expectTypeOf<ResponseOf<Reads["plain"]>>().toEqualTypeOf<View<"Call">>();
  expectTypeOf<ResponseOf<Reads["expanded"]>>().toExtend<View<"Call">>();
  expectTypeOf<ResponseOf<Reads["expanded"]>["outcome"]>().toEqualTypeOf<View<"Outcome"> | null>();
  expectTypeOf<ItemOf<Reads["list"]>>().toEqualTypeOf<View<"Call">>();
  expectTypeOf<ResponseOf<Reads["page"]>["items"][number]["outcome"]>().toEqualTypeOf<View<"Outcome"> | null>();

  type Filter = NonNullable<Parameters<Calls["list"]>[0]>;
  expectTypeOf<NonNullable<Filter["status"]>>().toEqualTypeOf<CallStatus | readonly CallStatus[]>();
  expectTypeOf<NonNullable<Filter["type"]>>().toEqualTypeOf<CallType>();
  type Expansion = NonNullable<NonNullable<Parameters<typeof getAnything>[1]>["expand"]>[number];
  expectTypeOf<Expansion>().toEqualTypeOf<(typeof CALL_EXPANSIONS)[number]>();

  expectTypeOf<ItemOf<Client["events"]>>().toEqualTypeOf<View<"Event">>();
  expectTypeOf<Extract<View<"Event">, { type: "dtmf" }>["data"]["digit"]>().toEqualTypeOf<string>();
  expectTypeOf<Extract<View<"Event">, { type: "failed" }>["data"]["reason"]>().toEqualTypeOf<
    View<"Outcome">["reason"]
  >();
  // @ts-expect-error a field of another event
  const readDigit = (event: View<"Event">) => event.data.digit;
  expectTypeOf(readDigit).toBeFunction();
  expectTypeOf<ResponseOf<Client["eventPage"]>["items"][number]>().toEqualTypeOf<View<"Event">>();
  expectTypeOf<ResponseOf<Client["voices"]>>().toEqualTypeOf<View<"VoiceList">>();
  expectTypeOf<ResponseOf<Client["voiceSample"]>>().toEqualTypeOf<Uint8Array<ArrayBuffer>>();
  expectTypeOf<ResponseOf<Client["waitForCall"]>>().toExtend<View<"Call">>();
  expectTypeOf<ResponseOf<Client["waitForCall"]>["outcome"]>().toEqualTypeOf<View<"Outcome">>();
  expectTypeOf<ResponseOf<Calls["streamTicket"]>>().toEqualTypeOf<View<"StreamTicket">>();
  expectTypeOf<StreamCallEvent>().toExtend<View<"StreamCallEvent">>();
  expectTypeOf<StreamCallEvent["event"]>().toEqualTypeOf<View<"StreamCallEvent">["event"]>();
  expectTypeOf<ProblemCode>().toExtend<ClientErrorCode>();
});

/** tsc also checks these. */
test("the input of a call has the fields of its type", () => {
  const common = { instanceId: "inst_1", target: { phoneNumber: "+12025550100" } };
  const create = (input: Parameters<Calls["create"]>[0]) => input;
  create({ ...common, type: "FIXED_TTS", tts: { text: "Hello.", voiceId: "en-US-1" } });
  create({ ...common, type: "DYNAMIC_STREAM", recording: true });
  // @ts-expect-error a text is missing
  create({ ...common, type: "FIXED_TTS" });
  // @ts-expect-error a file is missing
  create({ ...common, type: "FIXED_AUDIO", tts: { text: "Hello.", voiceId: "en-US-1" } });
  // @ts-expect-error instructions are missing
  create({ ...common, type: "DYNAMIC_AGENT" });
  // @ts-expect-error an unknown type
  create({ ...common, type: "FIXED_TONE" });
});

describe("the bundle", () => {
  const source = fileURLToPath(new URL("../../src/client/", import.meta.url));

  test("is under 15 KB and contains only the client's files", async () => {
    const { build } = await import("esbuild");
    const { outputFiles, metafile } = await build({
      entryPoints: [`${source}index.ts`],
      bundle: true,
      minify: true,
      format: "esm",
      platform: "browser",
      external: ["ky", "partysocket"],
      metafile: true,
      write: false,
      logLevel: "silent",
    });
    const [bundle] = outputFiles;
    expect(gzipSync(bundle!.contents).length).toBeLessThan(15 * 1024);
    const files = Object.keys(metafile.inputs);
    const sharedFiles = files.filter((file) => !file.includes("src/client/")).sort();
    expect(sharedFiles).toEqual([
      "src/audio/samples/g711-companding.ts",
      "src/audio/samples/pcm.ts",
      "src/audio/samples/stream-format.ts",
      "src/base/error.ts",
      "src/base/hex.ts",
    ]);
    expect(files.length - sharedFiles.length).toBeLessThanOrEqual(readdirSync(source, { recursive: true }).length);
    const [output] = Object.values(metafile.outputs);
    expect(new Set(output!.imports.map(({ path }) => path))).toEqual(new Set(["ky", "partysocket/ws"]));
  });
});
