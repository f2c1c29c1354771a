import { spawnSync } from "node:child_process";
import process from "node:process";

const INSIDE_VARIABLE = "RINGPORT_HOSTILE_INSIDE";

/** True if this process is alone in its network namespace, so that no packet can leave. */
export const isIsolated: boolean = process.env[INSIDE_VARIABLE] === "1";

/**
 * Runs this program again in a network namespace with only loopback, if one can be created here. @returns its exit code; undefined if none can be created, or this process is already in it
 */
export function runIsolated(): number | undefined {
  if (isIsolated) return undefined;
  const command = ["unshare", "-rn", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"];
  if (spawnSync(command[0]!, [...command.slice(1), "true"], { stdio: "ignore" }).status !== 0) return undefined;
  const self = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  const { status } = spawnSync(command[0]!, [...command.slice(1), ...self], {
    stdio: "inherit",
    env: { ...process.env, [INSIDE_VARIABLE]: "1" },
  });
  return status ?? 1;
}
