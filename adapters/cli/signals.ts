import process from "node:process";

const NUMBERS = { SIGINT: 2, SIGTERM: 15 } as const;

/** Resolves with the first SIGINT or SIGTERM; the second one ends the process at once. */
export function firstSignal(): Promise<keyof typeof NUMBERS> {
  return new Promise((resolve) => {
    let seen = false;
    for (const name of Object.keys(NUMBERS) as (keyof typeof NUMBERS)[])
      process.on(name, () => {
        if (seen) process.exit(128 + NUMBERS[name]);
        seen = true;
        resolve(name);
      });
  });
}
