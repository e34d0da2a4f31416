import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { exitCodes } from '../../src/cli/report.ts';
import { type RefusalCode, refusals } from '../../src/errors.ts';
import { statuses } from '../../src/http/refusals.ts';
import { reasonWords, searchWords } from '../../src/services/signin/methods/ldap/words.ts';
import { reasonSentence, reasonSentences } from '../../src/services/signin/reason-words.ts';
import { code, table } from './markdown.ts';

const sources = resolve(import.meta.dirname, '../../src');
// A refusal whose message stands beside its code, as a text or a template.
const refusal =
  /new Refusal\(\s*'(\w+)',\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|`((?:[^`\\]|\\.)*)`)/g;

/** The page of the refusal codes, and of the reasons of refused sign-ins. */
export function refusalsPage(): string {
  const messages = messagesByCode();
  // The table has these codes as its keys.
  const codes = (Object.keys(refusals) as RefusalCode[]).toSorted();
  return [
    introduction,
    ...codes.map((name) => section(name, messages.get(name) ?? [])),
    aboutReasons,
    '### Any way to sign in\n',
    table(['reason', 'meaning'], Object.keys(reasonSentences).toSorted().map(reasonRow())),
    '### Directories\n',
    table(
      ['reason', 'meaning'],
      [...Object.keys(reasonWords), ...Object.keys(searchWords)]
        .toSorted()
        .map(reasonRow('ldap.signin.refused')),
    ),
  ].join('\n');
}

const introduction = `# Refusal codes

Use this page to look up the code or the words of a refusal. [Troubleshooting](../troubleshooting.md) says what to do about the
most frequent ones.

A refusal is an answer that says no. Over HTTP it is a problem object (RFC 9457), whose \`code\` never changes its meaning. The
command line shows the message and the next step. With \`--json\` it shows the code too.

The messages below a code have that code. Messages that idctl puts together from parts are not listed. \`…\` stands for a name
or a value.

## Codes
`;

const aboutReasons = `## Reasons of refused sign-ins

idctl does not tell a person why it refused them. The log, events and attempts have the reason as a code, and
\`idctl event show REFERENCE\` shows it as a sentence.
`;

function section(name: RefusalCode, messages: string[]): string {
  const { kind, title } = refusals[name];
  const status = `${title}. HTTP status ${statuses[kind]}, exit code ${exitCodes[kind]}.`;
  const list = messages.map((message) => `- ${message}\n`).join('');
  return `### ${name}\n\n${status}\n${list === '' ? '' : `\n${list}`}`;
}

/** The messages in the sources by their code, without those that are hardly more than a value. */
function messagesByCode(): Map<string, string[]> {
  const found = globSync('**/*.ts', { cwd: sources })
    .toSorted()
    .flatMap((file) => [...readFileSync(join(sources, file), 'utf8').matchAll(refusal)])
    .map(([, name = '', single, double, template]) => ({
      name,
      message: readable(single ?? double ?? template ?? ''),
    }))
    .filter(({ message }) => message.replace(/…/g, '').trim().split(/\s+/).length > 2);
  return new Map(
    [...Map.groupBy(found, ({ name }) => name)].map(([name, list]) => [
      name,
      [...new Set(list.map(({ message }) => message))].toSorted(),
    ]),
  );
}

/** A message as it stands in the source, with `…` for each value. */
function readable(source: string): string {
  return source
    .replace(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, '…')
    .replace(/\\(.)/g, '$1')
    .replace(/[*_<>[\]]/g, '\\$&')
    .replace(/…(?:\s*…)+/g, '…');
}

const reasonRow = (kind?: string) => (reason: string) => [
  code(reason),
  reasonSentence(reason, kind === undefined ? {} : { kind }),
];
