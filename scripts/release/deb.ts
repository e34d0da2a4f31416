import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { bytesIn, gzip } from './archive.ts';
import { type Arch, run } from './tree.ts';

/** The content and the data of a package. */
export interface PackageSource {
  arch: Arch;
  /** The built sources: documentation, manual pages, completions, units. */
  sources: string;
  /** The tree of the release for this processor. */
  tree: string;
  version: string;
  commit: string;
  /** The time of each file, in seconds since 1970. */
  epoch: number;
}

/** Writes the Debian package of one processor. `root` is an empty folder to work in. */
export function writePackage(file: string, root: string, source: PackageSource): void {
  const { arch, sources, tree, version, commit, epoch } = source;
  const packaging = join(sources, 'packaging/deb');
  // Each release has its own folder, so that the earlier one can stay while its daemon runs.
  const release = `${version}-${commit.slice(0, 8)}`;
  const place = (path: string): string => {
    mkdirSync(join(root, path, '..'), { recursive: true });
    return join(root, path);
  };
  run(sources, 'cp', '--archive', tree, place(`usr/lib/idctl/releases/${release}`));
  symlinkSync(`../lib/idctl/releases/${release}/bin/idctl`, place('usr/bin/idctl'));
  for (const name of readdirSync(join(sources, 'man'))) {
    const page = place(`usr/share/man/man${name.at(-1)}/${name}`);
    cpSync(join(sources, 'man', name), page);
    gzip(page, '--best');
  }
  const completions = {
    bash: 'bash-completion/completions/idctl',
    zsh: 'zsh/vendor-completions/_idctl',
    fish: 'fish/vendor_completions.d/idctl.fish',
  };
  for (const [shell, path] of Object.entries(completions))
    cpSync(join(sources, `completions/idctl.${shell}`), place(`usr/share/${path}`));
  for (const name of readdirSync(join(sources, 'config')))
    if (/\.(service|timer)$/.test(name)) writeUnit(name);
    else cpSync(join(sources, 'config', name), place(`usr/share/doc/idctl/examples/${name}`));
  cpSync(join(sources, 'docs'), place('usr/share/doc/idctl/docs'), { recursive: true });
  cpSync(join(sources, 'README.md'), place('usr/share/doc/idctl/README.md'));
  cpSync(join(sources, 'CHANGELOG.md'), place('usr/share/doc/idctl/changelog'));
  gzip(join(root, 'usr/share/doc/idctl/changelog'), '--best');
  cpSync(join(packaging, 'copyright'), place('usr/share/doc/idctl/copyright'));
  cpSync(join(packaging, 'lintian-overrides'), place('usr/share/lintian/overrides/idctl'));
  run(root, 'chmod', '--recursive', 'u+rwX,go+rX,go-w', '.');
  writeControl();
  // dpkg-deb takes the time of the archive's members from the environment.
  run(root, 'find', '.', '-exec', 'touch', '--no-dereference', `--date=@${epoch}`, '{}', '+');
  run(
    root,
    'env',
    `SOURCE_DATE_EPOCH=${epoch}`,
    'dpkg-deb',
    '--root-owner-group',
    '-Zxz',
    '-z3',
    '--build',
    root,
    file,
  );

  function writeUnit(name: string): void {
    const text = readFileSync(join(sources, 'config', name), 'utf8')
      .replaceAll('/usr/local/', '/usr/')
      .replace(
        /^# idctl under systemd[^[]*/,
        '# To use it, as root: idctl init && systemctl enable --now idctl\n',
      );
    writeFileSync(place(`lib/systemd/system/${name}`), text);
  }

  function writeControl(): void {
    const size = Math.ceil(bytesIn(root) / 1024);
    const control = readFileSync(join(packaging, 'control'), 'utf8')
      .replace('@VERSION@', version)
      .replace('@ARCH@', arch.debian)
      .replace('@SIZE@', String(size));
    writeFileSync(place('DEBIAN/control'), control);
    for (const name of ['preinst', 'postinst', 'prerm', 'postrm']) {
      const script = readFileSync(join(packaging, name), 'utf8').replace('@RELEASE@', release);
      writeFileSync(join(root, 'DEBIAN', name), script);
      chmodSync(join(root, 'DEBIAN', name), 0o755);
    }
    chmodSync(join(root, 'DEBIAN'), 0o755);
    chmodSync(join(root, 'DEBIAN/control'), 0o644);
  }
}
