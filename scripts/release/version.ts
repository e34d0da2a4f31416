import { run } from './tree.ts';

/**
 * The version of a commit. At a tag such as v0.2.0, it is 0.2.0. After it, the version has the
 * commit and its time in UTC: 0.2.0+20261201153012.abc1234 is newer than 0.2.0 and older than 0.2.1.
 * `dpkg` compares the time as a number. Without a tag, the version in package.json counts as the
 * last one.
 */
export function versionOf(checkout: string, { commit, time }: { commit: string; time: number }) {
  const written: string = JSON.parse(
    run(checkout, 'git', 'show', `${commit}:package.json`),
  ).version;
  const { tagged, isExact } = findTag(checkout, commit);
  if (tagged !== null && !/^\d+\.\d+\.\d+$/.test(tagged))
    throw new Error(`The tag v${tagged} is not a version such as v0.2.0.`);
  if (isExact && tagged !== written)
    throw new Error(`The tag is v${tagged}, but package.json has the version ${written}.`);
  if (isExact) return written;
  const second = new Date(time * 1000).toISOString().slice(0, 19).replaceAll(/\D/g, '');
  return `${tagged ?? written}+${second}.${commit.slice(0, 7)}`;
}

/** The last version tag of the commit's history, and whether the commit itself has it. */
function findTag(checkout: string, commit: string): { tagged: string | null; isExact: boolean } {
  const isTagged = run(checkout, 'git', 'tag', '--list', 'v[0-9]*', '--merged', commit) !== '';
  if (!isTagged) return { tagged: null, isExact: false };
  const words = ['describe', '--tags', '--long', '--match', 'v[0-9]*', commit];
  const [, tagged = '', since] =
    /^v(.*)-(\d+)-g[0-9a-f]+$/.exec(run(checkout, 'git', ...words).trim()) ?? [];
  return { tagged, isExact: since === '0' };
}

/** The version as the tag of an image, which cannot contain a plus. */
export function imageTagOf(version: string): string {
  return version.replace('+', '-');
}
