const work: (() => unknown)[] = [];

/** Runs when the test file ends that runs now. An `afterAll` of a module would not: test files share their modules. */
export function atFileEnd(end: () => unknown): void {
  work.push(end);
}

/** What is made once in each test file that asks for it, as `make` answers it. */
export function oncePerFile<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    if (made === undefined) {
      atFileEnd(() => {
        made = undefined;
      });
      made = { value: make() };
    }
    return made.value;
  };
}

/** Runs what was registered, the last first. */
export async function endFile(): Promise<void> {
  for (const end of work.splice(0).reverse()) await end();
}
