/**
 * The functions of a test runner that the contract suites use; they import no runner. `{ describe, test, expect }` from
 * `vitest` or `bun:test` fit unchanged; with `node:test`, use `expect` from the package of that name.
 */
export interface ContractRunner {
  describe(title: string, body: () => void): void;
  readonly test: {
    /** @param timeoutMs the test fails after this */
    (title: string, body: () => Promise<void>, timeoutMs?: number): void;
    /** Lists a test without running it; its title ends with the reason. */
    skip(title: string, body: () => Promise<void>): void;
  };
  expect(actual: unknown): {
    toBe(expected: unknown): void;
    toEqual(expected: unknown): void;
    toBeGreaterThanOrEqual(expected: number): void;
    toBeLessThanOrEqual(expected: number): void;
  };
}
