const work: (() => unknown)[] = [];

/** Runs when the test file ends that runs now. An `afterAll` of a module would not: test files share their modules. */
export function atFileEnd(end: () => unknown): void {
  work.push(end);
}

/** Runs what was registered, the last first. */
export async function endFile(): Promise<void> {
  for (const end of work.splice(0).reverse()) await end();
}
