import { readVersion } from './version.ts';

process.umask(0o077);
for (const stream of [process.stdout, process.stderr]) stream.on('error', ignoreClosedPipe);

const argv = process.argv.slice(2);
if (argv.length === 1 && argv[0] === '--version') {
  // Answered before anything is loaded: scripts ask for it at every turn.
  process.stdout.write(`${readVersion()}\n`);
} else {
  const { failed, main } = await import('./cli/program.ts');
  process.on('uncaughtException', (error) => process.exit(failed(error, argv)));
  process.exitCode = await main(argv);
}

/** Who reads may stop reading (`idctl … | head`); the command still does all it was asked. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}
