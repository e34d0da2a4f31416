import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzip, writeTar } from './archive.ts';
import { writePackage } from './deb.ts';
import { addImage, type Image } from './image.ts';
import { type Arch, run, writeTree } from './tree.ts';

// Packs the files of a release for one processor. Each processor has a process of its own.

/** The kinds of files that a release has for each processor. */
export const packings = ['deb', 'archive', 'image'] as const;

/** What to pack, and where. */
export interface Packing {
  arch: Arch;
  /** The built sources. */
  sources: string;
  /** The image layout, which all processors share. */
  layout: string;
  only: (typeof packings)[number][];
  version: string;
  commit: string;
  /** The time of each file, in seconds since 1970. */
  epoch: number;
  /** The folder to work in. */
  work: string;
  /** The folder of the finished files. */
  made: string;
}

/** What the process tells its parent. */
export type Sent = { said: string } | { image: Image };

async function pack({ cache, ...given }: Packing & { cache: string }): Promise<void> {
  const { arch, sources, layout, only, work, made, version, commit, epoch } = given;
  const say = (what: string) => tell({ said: `${arch.debian}: ${what}` });
  const tree = join(work, arch.node);
  writeTree(sources, tree, arch);
  say('packages installed');
  const place = (name: string): string => {
    mkdirSync(join(work, name));
    return join(work, name);
  };
  const source = { arch, sources, tree, version, commit, epoch };
  if (only.includes('deb')) {
    const name = `idctl_${version}_${arch.debian}.deb`;
    writePackage(join(made, name), place(`deb-${arch.node}`), source);
    say('Debian package');
  }
  if (only.includes('image')) {
    const base = join(sources, 'packaging/base.json');
    const at = place(`image-${arch.node}`);
    tell({ image: await addImage(layout, at, cache, { ...source, base }) });
    say('image');
  }
  if (only.includes('archive')) {
    for (const path of ['config', 'docs', 'man', 'completions', 'README.md', 'CHANGELOG.md'])
      run(sources, 'cp', '--recursive', path, tree);
    const name = `idctl-${version}-linux-${arch.node}`;
    writeTar(tree, join(made, `${name}.tar`), { epoch, prefix: name });
    gzip(join(made, `${name}.tar`));
    say('archive');
  }
}

function tell(sent: Sent): void {
  process.send?.(sent);
}

if (process.argv[1] === import.meta.filename) {
  process.umask(0o022);
  // The parent writes this value.
  await pack(JSON.parse(process.argv[2] ?? ''));
  process.disconnect();
}
