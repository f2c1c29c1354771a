import process from "node:process";
import { setFlagsFromString } from "node:v8";
import type { Ringport } from "../../../src/ringport.ts";
import type { Listening, Tls } from "../../server/listening.ts";
import type { CommandSpec } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import { SETTINGS } from "../settings/all-settings.ts";
import { readSettings, type ServerSettings, unknownVariables } from "../settings/read-settings.ts";
import { withFix } from "../storage-fault.ts";
import { printToStderr } from "../terminal/terminal.ts";
import { UsageError } from "../usage-error.ts";
import { followCertificate, readCertificate } from "./certificate-files.ts";
import { checkTokenFile } from "./first-token.ts";
import { createLog } from "./log.ts";
import { serverAdapter } from "./server-adapter.ts";
import { firstSignal } from "./signals.ts";
import { printWelcome } from "./welcome.ts";

/**
 * V8 collects garbage in the old generation when it reaches 60 % of the live heap, instead of more than 100 %: this
 * saves memory, with shorter but more frequent pauses. Bun, which has another engine, ignores the flag.
 */
const HEAP_GROWTH_FLAG = "--heap-growing-percent=60";

/** `ringport serve`: serves the HTTP interface until SIGINT or SIGTERM. */
export const serveCommand: CommandSpec = {
  summary: "Serves the HTTP interface until SIGINT or SIGTERM.",
  details: "Exit code: 0 stopped, 1 failed, 2 bad settings, 8 another server took the database.",
  options: [],
  settings: SETTINGS,
  async run(line) {
    setFlagsFromString(HEAP_GROWTH_FLAG);
    refuseUnknownVariables(process.env);
    const settings = readSettings(SETTINGS, line, process.env);
    const log = createLog({
      level: settings.logLevel ?? "info",
      pretty: process.stderr.isTTY === true,
      write: printToStderr,
      maskNumbers: settings.logMaskNumbers,
    });

    const exitAfter = (error: Error): number => {
      log.error({ err: error }, "the server has stopped because it lost its database; start it again");
      return EXIT.leaseLost;
    };

    const stopSignal = firstSignal();
    const tls = settings.tls && (await readCertificate(settings.tls));
    await checkTokenFile(settings);
    const { createRingport } = await import("../../../src/ringport.ts");
    const { withConsole } = await import("../../console/index.ts");
    const base = createRingport({ onLeaseLost: "exit", ...settings.options, log });
    const ringport = settings.console === "off" ? base : withConsole(base, { log });
    const { listening, networkUrl } = await listen(ringport, settings, tls);
    if (settings.tls && tls) followCertificate(settings.tls, { initial: tls, listening, log });
    try {
      // With "restart", the start waits while another server is running.
      const signal = await Promise.race([ringport.start(), stopSignal]);
      if (signal === undefined) await printWelcome({ ringport, listening, networkUrl, settings });
    } catch (error) {
      await ringport.stop({ drainMs: 0 });
      await listening.close();
      const lossError = await Promise.race([ringport.ended, undefined]);
      if (lossError) return exitAfter(lossError);
      throw withFix(error, settings.options);
    }
    const cause = await Promise.race([stopSignal, ringport.ended]);
    if (cause instanceof Error) {
      await listening.close();
      return exitAfter(cause);
    }
    log.info(
      { signal: cause },
      "stopping; live calls may continue for a while, a second signal ends the process immediately",
    );
    await ringport.stop();
    await listening.close();
    log.info({}, "stopped");
    return 0;
  },
};

/**
 * Opens the port before the server starts, so that the data stays untouched if the port is in use. Requests wait for
 * the start.
 */
async function listen(
  ringport: Ringport,
  { port, hostname }: ServerSettings,
  tls: Tls | undefined,
): Promise<{ listening: Listening; networkUrl: string }> {
  const adapter = await serverAdapter();
  let networkUrl = "";
  const app = {
    ...ringport,
    listeningAt(url: string) {
      networkUrl = url;
      ringport.listeningAt(url);
    },
  };
  return { listening: await adapter.serve(app, { port, hostname, tls }), networkUrl };
}

/**
 * Refuses unknown variables: a misspelt one would silently have no effect. @throws {UsageError} naming the first one
 */
function refuseUnknownVariables(env: NodeJS.ProcessEnv): void {
  const [unknownVariable] = unknownVariables(env);
  if (!unknownVariable) return;
  const hint = unknownVariable.fix ? ` (${unknownVariable.fix})` : "";
  throw new UsageError(`unknown setting ${unknownVariable.name}${hint}; see: ringport serve --help`);
}
