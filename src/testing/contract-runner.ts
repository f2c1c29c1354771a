/**
 * The few functions of a test runner that the contract suites use, so that none is imported. `{ describe, test, expect }`
 * from `vitest` or `bun:test` fit as they are; for `node:test` take `describe` and `test` from there and `expect` from
 * the package of that name.
 */
export interface ContractRunner {
  describe(title: string, body: () => void): void;
  readonly test: {
    /** @param timeoutMs after which the test has failed */
    (title: string, body: () => Promise<void>, timeoutMs?: number): void;
    /** Lists a test that is not run; its title ends with the reason. */
    skip(title: string, body: () => Promise<void>): void;
  };
  expect(actual: unknown): {
    toBe(expected: unknown): void;
    toEqual(expected: unknown): void;
    toBeGreaterThanOrEqual(expected: number): void;
    toBeLessThanOrEqual(expected: number): void;
  };
}
