import process from "node:process";

/** Processor time of this process so far, ms. Unlike a clock, it excludes other programs. */
export function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
