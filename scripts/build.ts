import { execFileSync } from 'node:child_process';
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
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
