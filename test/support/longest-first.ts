import { BaseSequencer, type TestSpecification } from "vitest/node";
import { LONG_FILES } from "../structure/long-files.ts";

/**
 * Starts the long test files first, so that no run ends with one worker on a long file while the others are idle. A fresh machine has no durations of earlier runs, which vitest would sort the files by.
 */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // Projects of one group share their workers, so its long files come first whatever their project.
    const groupOf = ({ project }: TestSpecification): number => project.config.sequence.groupOrder;
    return (await super.sort(files)).sort((a, b) => groupOf(a) - groupOf(b) || rankOf(a) - rankOf(b));
  }
}

/** The rank of a file in the list of long files; all other files share the next rank. */
function rankOf({ moduleId }: TestSpecification): number {
  const rank = LONG_FILES.findIndex((path) => moduleId.endsWith(`/${path}`));
  return rank < 0 ? LONG_FILES.length : rank;
}
