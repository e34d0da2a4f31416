import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Starts the slowest files first, so that the workers finish together. Vitest starts the largest
 * files first, but a slow file that starts programs may be short.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    // The files of a project stay together, as a worker serves one project at a time.
    return [...Map.groupBy(sorted, ({ project }) => project.name).values()].flatMap((group) =>
      group.toSorted((one, other) => rankOf(one) - rankOf(other)),
    );
  }
}

const slow = [
  /\/cli\/transcripts/,
  /\/services\/database-move/,
  /\/security\/kill-matrix/,
  /\/(e2e|faults|install|cli)\//,
  /\/security\/(completion|webhooks|cli-becomes-owner|limits-storm|master-key)/,
  /\/services\/(doctor|explain-truth|daemon-configuration|webhooks|backup)/,
  /\/database\//,
];

function rankOf({ moduleId }: TestSpecification): number {
  const rank = slow.findIndex((name) => name.test(moduleId));
  return rank === -1 ? slow.length : rank;
}
