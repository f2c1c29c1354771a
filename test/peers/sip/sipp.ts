import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startChild } from "./child.ts";
import { freePorts, untilListening } from "./ports.ts";
import { scenario } from "./sipp-script.ts";
import type { Stage } from "./stage.ts";

/** A scripted callee with real SIP: runs its steps for each call, echoes audio, and exits. */
export interface Sipp {
  readonly port: number;
  /** SIP URI for a trunk's `server`. */
  readonly uri: string;
  /** Resolves at the end of its script. Rejects with the missing step and all messages. */
  readonly done: Promise<void>;
  /** All messages so far. */
  messages(): string;
  /** Errors of SIPp so far. */
  errors(): string;
  /** Ends SIPp without a message. */
  kill(): Promise<void>;
}

export interface SippOptions {
  readonly transport?: "udp" | "tcp";
  /** Number of calls to it. Default: 1. */
  readonly calls?: number;
}

/** Starts a sipp that receives calls. */
export async function startSipp(stage: Stage, name: string, steps: string, options: SippOptions = {}): Promise<Sipp> {
  const { transport = "udp", calls = 1 } = options;
  const folder = stage.folder("sipp");
  const [port, media] = [await freePorts(1), await freePorts(4)];
  const pathOf = (file: string): string => join(folder, file);
  writeFileSync(pathOf("script.xml"), scenario(name, steps));
  const child = startChild(
    "sipp",
    [
      ...["-sf", pathOf("script.xml"), "-i", "127.0.0.1", "-bind_local", "-p", String(port)],
      ...[
        "-t",
        transport === "udp" ? "u1" : "t1",
        "-m",
        String(calls),
        "-mi",
        "127.0.0.1",
        "-mp",
        String(media),
        "-rtp_echo",
      ],
      ...["-nostdin", "-trace_err", "-error_file", pathOf("errors"), "-trace_msg", "-message_file", pathOf("messages")],
      ...["-timeout", "40", "-timeout_error"],
    ],
    { cwd: folder, log: pathOf("log") },
  );
  stage.add(child, () => child.kill());
  const text = (file: string): string => {
    try {
      return readFileSync(pathOf(file), "utf8");
    } catch {
      return "";
    }
  };
  const done = child.exitCode.then((code) => {
    if (code === 0) return;
    throw new Error(`${name}: sipp ended with ${code}\n${text("errors")}\n${text("messages").slice(-12_000)}`);
  });
  done.catch(() => {});
  await untilListening(port, transport);
  return {
    port,
    uri: `sip:127.0.0.1:${port}${transport === "tcp" ? ";transport=tcp" : ""}`,
    done,
    messages: () => text("messages"),
    errors: () => text("errors"),
    kill: () => child.kill(),
  };
}
