import { existsSync, readFileSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { versionText } from './version.ts';

process.umask(0o077);
let unwritten: string | undefined;
let ended: number | undefined;
process.stdout.on('error', outputFailed);
process.stderr.on('error', () => {});

const argv = process.argv.slice(2);
const ready = argv.length === 1 ? readyAnswer(argv[0] ?? '') : null;
if (ready !== null) {
  ended = 0;
  process.stdout.write(ready);
} else {
  // A release brings its sources compiled: that is half of what a command would wait for.
  const compiled = join(import.meta.dirname, 'compiled');
  if (existsSync(compiled)) {
    enableCompileCache({ directory: compiled, portable: true });
    // Node warns of what packages do that is out of fashion only where they stand apart; there they are joined in.
    process.noDeprecation = true;
  }
  const { failed, main } = await import('./cli/program.ts');
  process.on('uncaughtException', (error) => process.exit(failed(error, argv)));
  ended = await main(argv);
  process.exitCode = ended;
  tellUnwritten();
}

/** Who reads may stop reading (`idctl … | head`), and a disk may be full; the command still does all it was asked. */
function outputFailed({ code }: NodeJS.ErrnoException): void {
  if (code === 'EPIPE' || unwritten !== undefined) return;
  unwritten = code ?? 'unknown cause';
  tellUnwritten();
}

/** Told at the command's end: only then is it known whether all was done. */
function tellUnwritten(): void {
  if (unwritten === undefined || ended === undefined) return;
  process.exitCode = 3;
  process.stderr.write(
    `idctl: The result could not be written (${unwritten})${ended === 0 ? '; what was asked for has been done' : ''}.\n` +
      'hint: Make room where standard output goes, then look with a command that only shows.\n',
  );
}

/**
 * What is asked at every turn, by scripts and by hand, answered before anything is loaded: the version, and in a release
 * the help as its build wrote it down. Null for anything else.
 */
function readyAnswer(word: string): string | null {
  if (word === '--version') return `${versionText()}\n`;
  if (!['--help', '-h', 'help'].includes(word)) return null;
  try {
    return readFileSync(new URL('./help.txt', import.meta.url), 'utf8');
  } catch {
    // The sources have none: their help is made of the commands.
    return null;
  }
}
