const work: (() => unknown)[] = [];

/** Runs at the end of the current test file. An `afterAll` of a module would not: test files share their modules. */
export function atFileEnd(end: () => unknown): void {
  work.push(end);
}

/** Creates a value once for each test file that uses it. */
export function oncePerFile<T>(make: () => T): () => T {
  let result: { readonly value: T } | undefined;
  return () => {
    if (result === undefined) {
      atFileEnd(() => {
        result = undefined;
      });
      result = { value: make() };
    }
    return result.value;
  };
}

/** Runs the registered functions in reverse order. */
export async function endFile(): Promise<void> {
  for (const end of work.splice(0).reverse()) await end();
}
