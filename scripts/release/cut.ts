import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { run } from './tree.ts';

// `npm run release:cut -- 0.2.0` writes a version into CHANGELOG.md, package.json and the lockfile.

/** The list of changes for this version: what stood under "Unreleased" gets the version. */
export function cutChanges(changes: string, version: string): string {
  if (!/^\d+\.\d+\.\d+$/.test(version))
    throw new Error(`${version} is not a version such as 0.2.0.`);
  if (changes.includes(`\n## ${version}\n`))
    throw new Error(`CHANGELOG.md has ${version} already.`);
  const [before, after, ...more] = changes.split('\n## Unreleased\n');
  if (before === undefined || after === undefined || more.length > 0)
    throw new Error('CHANGELOG.md needs one section "Unreleased".');
  return `${before}\n## Unreleased\n\n## ${version}\n${after}`;
}

function cut(checkout: string, version: string): void {
  const change = (path: string, how: (text: string) => string) => {
    const file = join(checkout, path);
    writeFileSync(file, how(readFileSync(file, 'utf8')));
  };
  change('CHANGELOG.md', (text) => cutChanges(text, version));
  run(checkout, 'npm', 'version', version, '--no-git-tag-version');
  process.stdout.write(`Prepared ${version}. Look at the changes, then run:
  git commit --all --message 'release: ${version}'
  git tag v${version}
  npm run release
`);
}

if (process.argv[1] === import.meta.filename)
  cut(dirname(dirname(import.meta.dirname)), process.argv[2] ?? '');
