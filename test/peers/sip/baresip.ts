import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { until } from "../../support/server-client.ts";
import { run } from "../tools.ts";
import type { Certificates } from "./certificates.ts";
import { type Child, startChild } from "./child.ts";
import { freePorts } from "./ports.ts";
import { untilComplete } from "./sound.ts";
import type { Stage } from "./stage.ts";

/** A callee on a real softphone: answers automatically, plays a sound, records both directions. */
export interface Baresip {
  /** Port for UDP and TCP; TLS uses the next one. */
  readonly port: number;
  readonly child: Child;
  /** All events so far, as it reports them: `CALL_ESTABLISHED`, `CALL_DTMF_START` with a key in `param`, … */
  readonly events: readonly BaresipEvent[];
  /** Waits for an event of this type. */
  event(type: string, withinMs?: number): Promise<BaresipEvent>;
  /** Sends a command, such as `accept`, `hangup`, `sndcode`. */
  command(command: string, params?: string): void;
  /** The file with the audio of its last call; waits until it is closed. */
  heardFile(): Promise<string>;
}

export interface BaresipEvent {
  readonly event?: boolean;
  readonly type?: string;
  readonly class?: string;
  readonly param?: string;
}

/** The called account: the number determines its codec, its keys, and whether it answers automatically. */
export const NUMBERS = {
  pcmu: "+12025550101",
  pcma: "+12025550102",
  opus: "+12025550103",
  sdes: "+12025550104",
  sdesOpus: "+12025550105",
  sdesIfOffered: "+12025550107",
  sdesFeedback: "+12025550108",
  dtls: "+12025550109",
  rings: "+12025550106",
  g722: "+12025550110",
} as const;

const ACCOUNTS: Readonly<Record<keyof typeof NUMBERS, string>> = {
  pcmu: "answermode=auto;audio_codecs=PCMU/8000/1",
  pcma: "answermode=auto;audio_codecs=PCMA/8000/1",
  opus: "answermode=auto;audio_codecs=opus/48000/1",
  sdes: "answermode=auto;audio_codecs=PCMU/8000/1,PCMA/8000/1;mediaenc=srtp-mand",
  sdesOpus: "answermode=auto;audio_codecs=opus/48000/1;mediaenc=srtp-mand",
  sdesIfOffered: "answermode=auto;audio_codecs=PCMU/8000/1;mediaenc=srtp",
  sdesFeedback: "answermode=auto;audio_codecs=PCMU/8000/1;mediaenc=srtp-mandf",
  dtls: "answermode=auto;audio_codecs=PCMU/8000/1;mediaenc=dtls_srtp;medianat=ice",
  rings: "answermode=manual;audio_codecs=PCMU/8000/1",
  g722: "answermode=auto;audio_codecs=G722/16000/1",
};

const CONFIG = (settings: {
  port: number;
  control: number;
  rtp: number;
  folder: string;
  soundFile: string;
  keys: Certificates;
  modules: string;
  jitterBuffer: string;
}): string => `
module_path ${settings.modules}
poll_method epoll
sip_listen 127.0.0.1:${settings.port}
sip_certificate ${settings.keys.keyAndCertificate}
call_local_timeout 120
call_max_calls 16
audio_buffer 20-160
audio_source aufile,${settings.soundFile}
audio_player aubridge,null
audio_alert aubridge,null
ausrc_srate 48000
ausrc_channels 2
auplay_srate 48000
auplay_channels 2
ausrc_format s16
auplay_format s16
auenc_format s16
audec_format s16
rtp_ports ${settings.rtp}-${settings.rtp + 18}
rtcp_mux yes
jitter_buffer_delay ${settings.jitterBuffer}
rtp_stats yes
rtp_timeout 20
net_interface 127.0.0.1
module opus.so
module g711.so
module g722.so
module sndfile.so
module aufile.so
module aubridge.so
module srtp.so
module dtls_srtp.so
module ice.so
module_tmp uuid.so
module_tmp account.so
module_app menu.so
module_app ctrl_tcp.so
ctrl_tcp_listen 127.0.0.1:${settings.control}
snd_path ${join(settings.folder, "rec")}
opus_bitrate 20000
opus_inbandfec yes
opus_application voip
opus_sprop_stereo no
opus_stereo no
`;

let modulePath: string | undefined;

/** Folder of its modules; looked up once, because this blocks calls. */
function modules(): string {
  modulePath ??= run("dpkg", "-L", "baresip-core")
    .split("\n")
    .find((path) => path.endsWith("/g711.so"));
  if (!modulePath) throw new Error("baresip-core has no module for G.711");
  return dirname(modulePath);
}

const tones = new WeakMap<Stage, Map<number, string>>();

/** The sound file of every baresip of a stage: 40 s of a tone. */
function tone(stage: Stage, hz: number): string {
  const files = tones.get(stage) ?? new Map<number, string>();
  tones.set(stage, files);
  const existingFile = files.get(hz);
  if (existingFile) return existingFile;
  const path = join(stage.folder("sounds"), "tone.wav");
  run("sox", "-D", "-n", "-r", "48000", "-c", "2", "-b", "16", path, "synth", "40", "sine", `${hz}`, "gain", "-12");
  files.set(hz, path);
  return path;
}

/**
 * Starts a separate baresip, for one call or for several at least a second apart.
 * @param toneOrFile on each call: a tone of this frequency, Hz, or a file of 48 kHz in stereo; 20 ms of 1 kHz are whole waves,
 *   so a missing packet goes unnoticed
 * @param jitterBuffer minimum and maximum packets in its jitter buffer; with one, baresip 1.0 ignores a new source whose sequence
 *   numbers lie before those of the old one
 */
export async function startBaresip(
  stage: Stage,
  keys: Certificates,
  toneOrFile: number | string = 1_000,
  jitterBuffer: "1-5" | "0-0" = "1-5",
): Promise<Baresip> {
  for (let attempt = 1; ; attempt++)
    try {
      return await start(stage, keys, toneOrFile, jitterBuffer);
    } catch (fault) {
      // Another program took a port before it was bound; or, rarely, it hangs before it is ready.
      if (attempt === 3 || !/ended with 98|does not listen for commands|waiting for baresip/.test(String(fault)))
        throw fault;
    }
}

async function start(
  stage: Stage,
  keys: Certificates,
  toneOrFile: number | string,
  jitterBuffer: string,
): Promise<Baresip> {
  const folder = stage.folder("baresip");
  const [port, control, rtp] = [await freePorts(2), await freePorts(1), await freePorts(20)];
  const soundFile = typeof toneOrFile === "string" ? toneOrFile : tone(stage, toneOrFile);
  for (const name of ["rec", "home"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "home", "contacts"), "");
  const accounts = Object.entries(ACCOUNTS).map(
    ([name, options]) => `<sip:${NUMBERS[name as keyof typeof NUMBERS]}@127.0.0.1:${port}>;regint=0;${options}\n`,
  );
  writeFileSync(join(folder, "home", "accounts"), accounts.join(""));
  writeFileSync(
    join(folder, "home", "config"),
    CONFIG({ port, control, rtp, folder, soundFile, keys, modules: modules(), jitterBuffer }),
  );
  const log = join(folder, "log.txt");
  const child = startChild("baresip", ["-f", join(folder, "home"), "-s", "-v"], { cwd: folder, log });
  stage.add(child, () => child.kill());
  await child.waitForOutput(/baresip is ready/);
  // It becomes ready even if another program has this port, which would then get our commands.
  if (/ctrl_tcp: failed/.test(child.output())) {
    await child.kill();
    throw new Error(`baresip does not listen for commands at port ${control}, which another program uses`);
  }

  const events: BaresipEvent[] = [];
  const socket = connect(control, "127.0.0.1");
  stage.add(socket, () => socket.destroy());
  let pending = Buffer.alloc(0);
  socket.on("error", () => {});
  socket.on("data", (bytes) => {
    pending = Buffer.concat([pending, bytes as Buffer]);
    for (;;) {
      const colon = pending.indexOf(":");
      const length = Number(pending.subarray(0, Math.max(0, colon)));
      if (colon < 0 || pending.length < colon + length + 2) return;
      events.push(JSON.parse(pending.subarray(colon + 1, colon + 1 + length).toString()) as BaresipEvent);
      pending = pending.subarray(colon + length + 2);
    }
  });
  await new Promise<void>((resolve, reject) => socket.once("connect", () => resolve()).once("error", reject));

  const event = async (type: string, withinMs = 10_000): Promise<BaresipEvent> =>
    (await until(
      () => events.find((entry) => entry.type === type),
      (entry) => entry !== undefined,
      withinMs,
      `baresip to report ${type}`,
    ))!;
  return {
    ...{ port, child, events, event },
    command(command, params = "") {
      const text = JSON.stringify({ command, params, token: "test" });
      socket.write(`${Buffer.byteLength(text)}:${text},`);
    },
    async heardFile() {
      const count = (type: string): number => events.filter((entry) => entry.type === type).length;
      // A refused call is closed without having been established.
      await until(
        () => count("CALL_CLOSED"),
        (closedCount) => closedCount > 0 && closedCount >= count("CALL_ESTABLISHED"),
        10_000,
        "the end of the call",
      );
      const recordings = (): string[] => readdirSync(join(folder, "rec")).filter((name) => name.endsWith("-dec.wav"));
      const expectedCount = count("CALL_ESTABLISHED");
      const names = await until(
        recordings,
        (files) => files.length === expectedCount,
        2_000,
        `${expectedCount} recordings`,
      );
      return await untilComplete(join(folder, "rec", names.sort().at(-1)!));
    },
  };
}
