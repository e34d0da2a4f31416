import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

// Writes dist/: the sources without their types (`npm run check` has checked those), and whatever
// else src/ holds as it is. The compiler may be installed beside the checkout: install.sh does that.
const root = dirname(import.meta.dirname);
const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');

rmSync(join(root, 'dist'), { recursive: true, force: true });
execFileSync(process.execPath, [compiler, '-p', join(root, 'tsconfig.build.json')], { stdio: 'inherit' });
cpSync(join(root, 'src'), join(root, 'dist'), {
  recursive: true,
  filter: (source) => !source.endsWith('.ts'),
});
// The first page that people ask for, so that nothing has to be loaded to show it.
const main = join(root, 'dist/main.js');
const help = execFileSync(process.execPath, [main, '--help'], { env: {}, encoding: 'utf8' });
writeFileSync(join(root, 'dist/help.txt'), help);

const compiled = join(root, 'dist/compiled');
mkdirSync(compiled);
// Each start keeps there what Node has made of the sources; these two what most commands need.
const folder = mkdtempSync(join(tmpdir(), 'idctl-build-'));
for (const words of [
  ['init', '--yes'],
  ['org', 'list'],
]) {
  const env = { IDCTL_CONFIG: join(folder, 'idctl.yaml') };
  execFileSync(process.execPath, [main, ...words], { env, stdio: ['ignore', 'ignore', 'ignore'] });
}
rmSync(folder, { recursive: true, force: true });
// Whoever runs idctl reads them, whoever has installed it.
for (const name of ['', ...readdirSync(compiled, { recursive: true, encoding: 'utf8' })]) {
  const path = join(compiled, name);
  chmodSync(path, statSync(path).isDirectory() ? 0o755 : 0o644);
}
