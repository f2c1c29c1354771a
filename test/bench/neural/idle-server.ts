import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { start } from "../../support/runtimes.ts";
import { inRounds, median, type Row, row } from "../harness/benchmark.ts";
import { ALL_RUNTIMES, underEach } from "../harness/programs.ts";
import { childrenOf, residentMiB, untilIdle } from "../harness/resources.ts";
import { inFolder } from "../harness/stored-data.ts";
import { ENGINE_FOLDER, withModels } from "./models.ts";

const MAIN = fileURLToPath(new URL("../../../adapters/cli/main.ts", import.meta.url));
/** Two identical servers differ by this much, MiB. */
const MAX_EXTRA_MIB = 4;

interface IdleServer {
  readonly memoryMiB: number;
  readonly children: number;
  /** Engine files that the server has mapped. */
  readonly engineFiles: number;
}

/** A server that has started and is idle: without the engine and models, and with both but without a line. */
export function idleServer(starts: number): Promise<Row[]> {
  return withModels("tones", (models) =>
    underEach(ALL_RUNTIMES, (runtime) =>
      inFolder(async (data) => {
        const startIdle = async (cwd: string, folder: string): Promise<IdleServer> => {
          const env = { RINGPORT_DATA: data, RINGPORT_SPEECH_MODELS: folder };
          const server = await start(runtime, MAIN, {
            args: ["serve"],
            env,
            cwd,
            flags: runtime.name === "deno" ? ["--allow-run"] : [],
          });
          try {
            await untilIdle(server.pid);
            return {
              memoryMiB: residentMiB(server.pid),
              children: childrenOf(server.pid).length,
              engineFiles: engineFilesOf(server.pid),
            };
          } finally {
            await server.stop("SIGKILL");
          }
        };
        const sides = {
          without: () => startIdle(data, join(data, "models")),
          engine: () => startIdle(ENGINE_FOLDER, join(data, "models")),
          models: () => startIdle(ENGINE_FOLDER, models),
        };
        const servers = await inRounds(starts, sides, { label: `${runtime.name}: servers without calls` });
        const memory = (side: keyof typeof sides): number => median(servers[side].map(({ memoryMiB }) => memoryMiB));
        const base = memory("without");
        const rowsOf = (side: "engine" | "models", title: string): Row[] => {
          const children = Math.max(...servers[side].map((server) => server.children));
          const engineFiles = Math.max(...servers[side].map((server) => server.engineFiles));
          const extraMiB = memory(side) - base;
          const measured = `${extraMiB.toFixed(1)} MiB more (${memory(side).toFixed(0)} against ${base.toFixed(0)} MiB)`;
          return [
            row(
              `a server ${title}: processes, files of the engine`,
              `${children}, ${engineFiles}`,
              "0, 0",
              children + engineFiles === 0,
            ),
            row(
              "its memory, against one without engine and models",
              measured,
              `≤ ${MAX_EXTRA_MIB} MiB more`,
              extraMiB <= MAX_EXTRA_MIB,
            ),
          ];
        };
        return [...rowsOf("engine", "without models"), ...rowsOf("models", "with models, before its first line")];
      }),
    ),
  );
}

function engineFilesOf(pid: number): number {
  const files = readFileSync(`/proc/${pid}/maps`, "utf8").match(/\/\S*(?:sherpa|onnx)\S*/g) ?? [];
  return new Set(files).size;
}
