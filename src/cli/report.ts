import type { Command } from 'commander';
import {
  type InputFault,
  moreWords,
  Refusal,
  type RefusalKind,
  refusals,
  withReason,
} from '../errors.ts';
import { escaped } from '../text/escape.ts';
import { seeHelp, typedName } from './command.ts';
import { commandText, isCopied } from './next.ts';
import { type Screen, widthOfScreen, writeBroken } from './output.ts';

/** The exit code of each refusal kind (0 is success, 70 is a bug here or on the server). */
export const exitCodes: Record<RefusalKind, number> = {
  invalid: 2,
  unauthenticated: 1,
  forbidden: 1,
  missing: 1,
  method: 1,
  conflict: 1,
  pending: 8,
  precondition: 1,
  tooLarge: 1,
  mediaType: 1,
  limited: 1,
  upstream: 3,
  overloaded: 3,
};

interface Situation {
  json: boolean;
  /** The running command, if the command line named one. */
  command: Command | undefined;
}

/** Reports on stderr why a command ended, and returns the exit code. */
export function report(error: unknown, situation: Situation): number {
  if (error instanceof Refusal) {
    const told = withReason(error);
    if (situation.json) say(escaped(problem(told)));
    else tell(told, situation.command);
    return exitCodes[error.kind];
  }
  if (isHelp(error)) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof Error && /^(Exit|Abort)PromptError$/.test(error.name)) return 130;
  if (error instanceof Error && error.name === 'FailedResult') return 1;
  if (error instanceof Error && error.name === 'PendingResult') return exitCodes.pending;
  const bug = isOfServer(error) ? escaped(error.message) : `internal error: ${whereabouts(error)}`;
  say(
    situation.json
      ? JSON.stringify({ type: 'urn:idctl:problem:bug', title: 'Bug', detail: bug })
      : `idctl: ${bug}`,
  );
  return 70;
}

/** The problem object (RFC 9457) on one line; `status` belongs to HTTP and is left out. */
function problem(refusal: Refusal): string {
  return JSON.stringify({
    type: `urn:idctl:problem:${refusal.code}`,
    title: refusals[refusal.code].title,
    detail: refusal.message,
    code: refusal.code,
    hint: commandText(refusal.hint),
    ...(refusal.faults.length === 0 ? {} : { errors: refusal.faults }),
    ...(refusal.moreFaults === 0 ? {} : { moreErrors: refusal.moreFaults }),
    ...refusal.extra,
  });
}

function tell(refusal: Refusal, command: Command | undefined): void {
  const placed = refusal.faults.some(({ line }) => line !== undefined);
  const typed = refusal.code === 'invalid_input' && !placed ? refusal.faults : [];
  const faults = typed.map((fault) => asTyped(fault, command));
  const words = [...faults, ...moreWords(refusal.moreFaults)];
  const message = faults.length === 0 ? refusal.message : words.join('; ');
  const help = command && faults.length > 0 ? seeHelp(command) : undefined;
  const hint = refusal.hint ?? help;
  const screen = errorOutput();
  if (refusal.code === 'config_invalid' && refusal.faults.length > 1) {
    say(`idctl: The configuration has ${refusal.faults.length} errors:`);
    for (const fault of refusal.faults) writeBroken('  ', fault.message, screen);
  } else if (placed) for (const fault of message.split('\n')) say(`idctl: ${escaped(fault)}`);
  else writeBroken('idctl: ', message, screen);
  if (hint === undefined) return;
  // Leave a command on one line, so that it can be copied; the terminal wraps it.
  if (isCopied(hint)) say(`hint: ${escaped(commandText(hint))}`);
  else writeBroken('hint: ', commandText(hint), screen);
}

/** Describes the fault under the name that a person types: the option or argument. */
function asTyped(fault: InputFault, command: Command | undefined): string {
  const name = typedName(fault.path, command);
  return name === '' ? fault.message : `${name}: ${fault.message}`;
}

function isHelp(error: unknown): error is { exitCode: number } {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('commander.');
}

/** A fault of a remote server, whose message says which server failed. */
function isOfServer(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ServerFault';
}

/** The name of an error and its source line. Its message may contain confidential data. */
function whereabouts(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  if (process.env['IDCTL_LOG_LEVEL'] === 'debug') return error.stack ?? error.name;
  const frame = /\n\s+at (?:.*\/)?((?:src|dist)\/[^)\s]+)/.exec(error.stack ?? '')?.[1];
  const cause = error.cause === undefined ? '' : ` caused by ${whereabouts(error.cause)}`;
  const code = 'code' in error ? ` ${String(error.code)}` : '';
  return `${error.name}${code}${frame === undefined ? '' : ` at ${frame}`}${cause}`;
}

function errorOutput(stream: NodeJS.WriteStream = process.stderr): Screen {
  return { write: (text) => stream.write(text), columns: widthOfScreen(stream), colour: false };
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
