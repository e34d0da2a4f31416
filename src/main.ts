import { existsSync, readFileSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { versionText } from './version.ts';

process.umask(0o077);
let unwritten: string | undefined;
let ended: number | undefined;
process.stdout.on('error', outputFailed);
process.stderr.on('error', () => {});
if (process.pid === 1) endBySignals();

const argv = process.argv.slice(2);
const ready = argv.length === 1 ? readyAnswer(argv[0] ?? '') : null;
if (ready !== null) {
  ended = 0;
  process.stdout.write(ready);
} else {
  // A release contains its compiled code; compiling is half of a command's start time.
  const compiled = join(import.meta.dirname, 'compiled');
  if (existsSync(compiled)) {
    enableCompileCache({ directory: compiled, portable: true });
    // Node hides some deprecation warnings of code in node_modules. A release bundles that code, so
    // they would show.
    process.noDeprecation = true;
  }
  const { failed, main } = await import('./cli/program.ts');
  process.on('uncaughtException', (error) => process.exit(failed(error, argv)));
  ended = await main(argv);
  process.exitCode = ended;
  tellUnwritten();
}

/**
 * A reader may stop reading (`idctl … | head`), or a disk may be full. The command still completes
 * its work.
 */
function outputFailed({ code }: NodeJS.ErrnoException): void {
  if (code === 'EPIPE' || unwritten !== undefined) return;
  unwritten = code ?? 'unknown cause';
  tellUnwritten();
}

/** Reports failed output at the end of the command, when its outcome is known. */
function tellUnwritten(): void {
  if (unwritten === undefined || ended === undefined) return;
  process.exitCode = 3;
  process.stderr.write(
    `idctl: The result could not be written (${unwritten})${ended === 0 ? ', but the command has done its work' : ''}.\n` +
      'hint: Free space where standard output goes. Then check the result with a command that only reads.\n',
  );
}

/**
 * Lets signals end idctl if it is the init process of a container. For the init process, the kernel
 * ignores signals without a handler. If another handler is added later, this one does nothing.
 */
function endBySignals(): void {
  const signals = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;
  for (const [signal, number] of Object.entries(signals))
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(128 + number);
    });
}

/**
 * Answers frequent requests before loading other code: the version and, in a release, the prebuilt
 * help. Null for other requests.
 */
function readyAnswer(word: string): string | null {
  if (word === '--version') return `${versionText()}\n`;
  if (!['--help', '-h', 'help'].includes(word)) return null;
  try {
    return readFileSync(new URL('./help.txt', import.meta.url), 'utf8');
  } catch {
    // A checkout does not contain prebuilt help, so the program generates it from the commands.
    return null;
  }
}
