import type { Command, Option } from 'commander';
import { createProgram } from '../../src/cli/program.ts';

// The commands of idctl that a page of the documentation shows, and a check of their words.

const program = await createProgram();

/** The lines of the code blocks of a page that begin with `idctl` or `$ idctl`, joined where they continue. */
export function typedLines(text: string): string[] {
  return [...text.matchAll(/^( *)```(\w*)\n([\s\S]*?)^\1```$/gm)]
    .filter(([, , language = '']) => ['sh', ''].includes(language))
    .flatMap(([, , , block = '']) => block.replace(/\\\n\s*/g, '').split('\n'))
    .map((line) => line.trim().replace(/^\$ /, ''))
    .filter((line) => line.startsWith('idctl '));
}

/** The commands in the sentences of a page, such as `idctl event list`. */
export function spokenLines(text: string): string[] {
  return [...text.matchAll(/`(idctl [^`]+)`/g)].map(([, line = '']) => line.replace(/\s+/g, ' '));
}

/** The words of a line of the shell up to the next program of the shell, without quotes. */
export function wordsOf(line: string): string[] {
  const [own = ''] = line.split(/\s(?:\||\|\||&&|<|>|>>|;|#|2>)\s?/);
  return (own.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? []).map((word) =>
    word.replace(/'([^']*)'|"([^"]*)"/g, '$1$2'),
  );
}

/** What is wrong with the words of a command; null if it can be typed. `isWhole` also needs what is required. */
export function faultOf(line: string, isWhole: boolean): string | null {
  const [, ...words] = wordsOf(line);
  const { command, rest } = commandOf(program, words);
  if (rest.includes('--help')) return null;
  if (command.commands.length > 0) return isWhole || rest.length > 0 ? 'no such command' : null;
  const given: string[] = [];
  const operands: string[] = [];
  for (let at = 0; at < rest.length; at += 1) {
    const [flag = '', value] = (rest[at] ?? '').split('=', 2);
    if (!flag.startsWith('-') || flag === '-') {
      operands.push(flag);
      continue;
    }
    const option = optionOf(command, flag);
    if (option === undefined) return `no option ${flag}`;
    given.push(option.attributeName());
    if (!option.required || value !== undefined) continue;
    at += 1;
    if (rest[at] === undefined && isWhole) return `${flag} needs a value`;
    while (option.variadic && rest[at + 1] !== undefined && !rest[at + 1]?.startsWith('-')) at += 1;
  }
  const places = command.registeredArguments;
  const isMany = places.some(({ variadic }) => variadic);
  if (operands.length > places.length && !isMany) return `too many words: ${operands.join(' ')}`;
  if (!isWhole) return null;
  const needed = places.filter(({ required }) => required).length;
  if (operands.length < needed) return 'an argument is missing';
  const missing = command.options.find(
    (option) => option.mandatory && !given.includes(option.attributeName()),
  );
  return missing === undefined ? null : `${missing.flags} is missing`;
}

/** The command that the words name, below this one, and the words after its name. */
function commandOf(from: Command, words: string[]): { command: Command; rest: string[] } {
  const [word = '', ...rest] = words;
  const below = from.commands.find((one) => one.name() === word || one.aliases().includes(word));
  return below === undefined ? { command: from, rest: words } : commandOf(below, rest);
}

function optionOf(command: Command, flag: string): Option | undefined {
  return [...command.options, ...program.options].find(
    ({ long, short }) => long === flag || short === flag,
  );
}
