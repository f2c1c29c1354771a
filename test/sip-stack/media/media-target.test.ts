import { afterEach, expect, test } from "vitest";
import { MediaTarget } from "../../../adapters/sip-stack/media/media-target.ts";
import { Voice } from "../../support/sip/voice.ts";
import { End, settingsTo, until } from "./two-ends.ts";

const NAME = "media.example";
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of cleanups.splice(0).reverse()) await close();
});

/** A phone, and the settings of a description that names its host. */
async function phone() {
  const voice = await Voice.open("127.0.0.1");
  cleanups.push(() => voice.close());
  const remote = { address: NAME, port: voice.port };
  return { voice, settings: settingsTo(voice.port, { remote, remoteRtcp: remote }) };
}

/** A session that resolves its remote host: each query takes the next result, and fails if that is empty. */
async function session(...answers: readonly (readonly string[])[]) {
  const end = await End.open();
  cleanups.push(() => end.engine.close());
  let queryCount = 0;
  const target = new MediaTarget({
    session: end.session,
    local: "127.0.0.1",
    from: { isPublic: false },
    onAddressChecked() {},
    dns: {
      async addresses() {
        const answer = answers[queryCount++] ?? [];
        if (answer.length === 0) throw new Error("the resolver is silent");
        return answer;
      },
    },
    onNoAddress: (detail) => end.lost(detail),
  });
  end.session.start();
  return { end, target, queryCount: () => queryCount };
}

test("a resolved name survives a DNS failure", async () => {
  const [first, second] = [await phone(), await phone()];
  const { end, target, queryCount } = await session(["127.0.0.1"]);
  target.apply(first.settings, false);
  await until(() => first.voice.packets.length > 3, "audio at the first port");
  target.apply(second.settings, false);
  await until(() => queryCount() === 2 && second.voice.packets.length > 3, "audio at the second port");
  expect(end.events).toEqual(["sending"]);
});

test("a name keeps its address if the DNS returns another first", async () => {
  const [first, second] = [await phone(), await phone()];
  const { target, queryCount } = await session(["127.0.0.1"], ["127.0.0.9", "127.0.0.1"]);
  target.apply(first.settings, false);
  await until(() => first.voice.packets.length > 3, "audio at the first port");
  target.apply(second.settings, false);
  await until(() => queryCount() === 2 && second.voice.packets.length > 5, "audio at the second port");
});

test("a name with a new address is followed", async () => {
  const [first, second] = [await phone(), await Voice.open("127.0.0.2")];
  cleanups.push(() => second.close());
  const { target } = await session(["127.0.0.1"], ["127.0.0.2"]);
  target.apply(first.settings, false);
  await until(() => first.voice.packets.length > 3, "audio at the first address");
  const remote = { address: NAME, port: second.port };
  target.apply({ ...first.settings, remote, remoteRtcp: remote }, false);
  await until(() => second.packets.length > 3, "audio at the second address");
});

test("an unresolvable name is reported as lost", async () => {
  const first = await phone();
  const { end, target } = await session(["127.0.0.1"]);
  target.apply(first.settings, false);
  await until(() => first.voice.packets.length > 3, "audio");
  target.apply({ ...first.settings, remote: { address: "other.example", port: 4000 } }, false);
  await until(() => end.events.length > 1, "the loss");
  expect(end.events[1]).toContain('"other.example"');
});
