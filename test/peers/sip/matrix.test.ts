import { beforeAll, expect, test } from "vitest";
import type { Trunk } from "../../../adapters/telephony/sip/config/trunk-config.ts";
import { describeEach, ON_NODE, ON_OTHER_RUNTIMES, Server } from "../../support/server.ts";
import { type Client, expected, type InstanceView } from "../../support/server-client.ts";
import { loudPart, phaseJump, toneShare, toneWav } from "../../support/server-sound.ts";
import { recognise } from "../recogniser.ts";
import { APPOINTMENT } from "../sentences.ts";
import { withTools } from "../tools.ts";
import { type Baresip, NUMBERS, startBaresip } from "./baresip.ts";
import { type Certificates, makeCertificates } from "./certificates.ts";
import { KAMAILIO, type Kamailio, startKamailio } from "./kamailio.ts";
import { monoOf } from "./sound.ts";
import { Stage } from "./stage.ts";

/** The trunks' peers. */
interface Peers {
  readonly baresip: Baresip;
  readonly md5: Kamailio;
  readonly sha256: Kamailio;
  readonly keys: Certificates;
}

interface Route {
  readonly title: string;
  readonly number: keyof typeof NUMBERS;
  readonly message: "words" | "tone";
  readonly trunk: (peers: Peers) => Omit<Trunk, "name">;
  /** True if the pair is tested on every runtime. */
  readonly onEveryRuntime?: boolean;
}

const { domain, user, password } = KAMAILIO;
const tls = ({ keys }: Peers): Pick<Trunk, "tls"> => ({ tls: { ca: keys.ca, servername: "sip.test.local" } });

const ROUTES: readonly Route[] = [
  {
    title: "words by UDP and PCMU",
    number: "pcmu",
    message: "words",
    trunk: ({ baresip }) => ({ server: `sip:127.0.0.1:${baresip.port}` }),
  },
  {
    title: "a tone by TCP and PCMA",
    number: "pcma",
    message: "tone",
    trunk: ({ baresip }) => ({ server: `sip:127.0.0.1:${baresip.port};transport=tcp` }),
  },
  {
    title: "words by TLS and protected PCMU",
    number: "sdes",
    message: "words",
    onEveryRuntime: true,
    trunk: (peers) => ({ server: `sips:127.0.0.1:${peers.baresip.port + 1}`, srtp: "required", ...tls(peers) }),
  },
  {
    title: "a tone by UDP and Opus",
    number: "opus",
    message: "tone",
    trunk: ({ baresip }) => ({ server: `sip:127.0.0.1:${baresip.port}`, codecs: ["opus", "PCMU"] }),
  },
  {
    title: "a tone by UDP and G.722",
    number: "g722",
    message: "tone",
    trunk: ({ baresip }) => ({ server: `sip:127.0.0.1:${baresip.port}`, codecs: ["G722", "PCMU"] }),
  },
  {
    title: "a tone by TLS and protected Opus",
    number: "sdesOpus",
    message: "tone",
    onEveryRuntime: true,
    trunk: (peers) => ({
      ...{ server: `sip:127.0.0.1:${peers.baresip.port + 1};transport=tls`, codecs: ["opus"], srtp: "required" },
      ...tls(peers),
    }),
  },
  {
    title: "words by UDP through a registrar and proxy with MD5, in PCMU",
    number: "pcmu",
    message: "words",
    trunk: ({ md5 }) => ({ server: `sip:127.0.0.1:${md5.port}`, domain, user, password, register: true }),
  },
  {
    title: "a tone by TCP through a proxy with MD5, in PCMA",
    number: "pcma",
    message: "tone",
    trunk: ({ md5 }) => ({ server: `sip:127.0.0.1:${md5.port};transport=tcp`, domain, user, password }),
  },
  {
    title: "a tone by TLS through a registrar and proxy with SHA-256, in protected PCMU",
    number: "sdes",
    message: "tone",
    trunk: (peers) => ({
      ...{ server: `sip:127.0.0.1:${peers.sha256.port + 1};transport=tls`, domain, user, password, register: true },
      ...{ srtp: "required", ...tls(peers) },
    }),
  },
  {
    title: "words by UDP through a proxy with SHA-256, in Opus",
    number: "opus",
    message: "words",
    trunk: ({ sha256 }) => ({ server: `sip:127.0.0.1:${sha256.port}`, domain, user, password, codecs: ["opus"] }),
  },
];

const HZ = 440;
const TONE_MS = 3_000;
const CALLS = {
  words: { type: "FIXED_TTS", tts: { text: APPOINTMENT.text, voiceId: "en-US-1" } },
  tone: { type: "FIXED_AUDIO", audio: { audioBase64: toneWav({ hz: HZ, ms: TONE_MS }).toString("base64") } },
};

/** Node 22 behaves like Node 26 here. */
const TARGETS = [ON_NODE, ...ON_OTHER_RUNTIMES.filter(({ runtime }) => runtime.name !== "node22")];

describeEach(TARGETS, (target) => {
  withTools("a softphone hears", ["baresip", "kamailio", "openssl", "pocketsphinx_batch", "sox"], () => {
    const routes = ROUTES.filter(({ onEveryRuntime }) => target === ON_NODE || onEveryRuntime);
    const stage = new Stage();
    const softphones = new Map<Route, Baresip>();
    let server: Server;
    let client: Client;
    let instances: InstanceView[];

    beforeAll(async () => {
      const keys = makeCertificates(stage.folder("keys"));
      for (const route of routes) softphones.set(route, await startBaresip(stage, keys));
      const proxy = async (algorithm: "MD5" | "SHA-256", firstRoute: number): Promise<Kamailio> => {
        const targets = routes.slice(firstRoute).map((route) => [NUMBERS[route.number], softphones.get(route)!.port]);
        return await startKamailio(stage, { algorithm, keys, routes: Object.fromEntries(targets) });
      };
      const firstRouteWith = (name: string): number => ROUTES.findIndex(({ title }) => title.includes(`with ${name}`));
      const [md5, sha256] = [
        await proxy("MD5", firstRouteWith("MD5")),
        await proxy("SHA-256", firstRouteWith("SHA-256")),
      ];
      const trunks = routes.map((route, i): Trunk => {
        const peers = { baresip: softphones.get(route)!, md5, sha256, keys };
        return { name: `trunk-${i}`, users: "*", ...route.trunk(peers) };
      });
      server = stage.add(new Server(target, { env: { RINGPORT_SIP_TRUNKS: JSON.stringify(trunks) } }), (it) =>
        it.dispose(),
      );
      await server.start();
      client = await server.as("ada");
      instances = await Promise.all(
        routes.map(async (_, i) => {
          const response = await client.post("/v1/instances", { name: `Line ${i}`, provider: `sip/trunk-${i}` });
          const { id } = expected(201, response).json<InstanceView>();
          return client.waitForInstance(id, "ACTIVE"); // without a code: the operator has linked it
        }),
      );
    });
    for (const [i, route] of routes.entries())
      test.concurrent(route.title, async () => {
        const softphone = softphones.get(route)!;
        const { id } = await client.call(instances[i]!.id, {
          ...CALLS[route.message],
          target: { phoneNumber: NUMBERS[route.number] },
        });
        const endedCall = await client.waitForCall(id);
        expect(endedCall).toMatchObject({ status: "COMPLETED", outcome: { reason: "message_played", heard_ratio: 1 } });
        const recording = await softphone.heardFile();
        if (route.message === "words") {
          expect(recognise((await monoOf(recording)).path, APPOINTMENT.words)).toBe(APPOINTMENT.heard);
          return;
        }
        // No sample is missing at either end or in between, and none is doubled.
        const { sound } = await monoOf(recording);
        const ms = (samples: number): number => (samples * 1000) / sound.sampleRate;
        const { from, to } = loudPart(sound, 500);
        expect(Math.abs(ms(to - from) - TONE_MS)).toBeLessThanOrEqual(25);
        const edge = sound.sampleRate / 20;
        const innerPart = { ...sound, samples: sound.samples.subarray(from + edge, to - edge) };
        // A single tone over its whole length: after a missing frame, the rest would be out of phase.
        expect(toneShare(innerPart, HZ)).toBeGreaterThan(0.97);
        if (!route.title.includes("Opus")) expect(phaseJump(innerPart, HZ)).toBeLessThan(0.5); // Opus wavers a little
        // The tail follows it: the last samples were heard before the hang-up.
        expect(ms(sound.samples.length - to)).toBeGreaterThan(150);
      });
  });
});
