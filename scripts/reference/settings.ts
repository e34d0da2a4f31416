import { stringify } from 'yaml';
import { isReloadable, type Setting, settings } from '../../src/config/setting-list.ts';
import { code, sentence, table } from './markdown.ts';

/** The page of the settings in `idctl.yaml`. */
export function settingsPage(): string {
  const sections = Map.groupBy(settings(), ({ key }) =>
    key.includes('.') ? key.slice(0, key.indexOf('.')) : '',
  );
  return [
    introduction,
    ...[...sections].map(([section, list]) =>
      [
        `## ${section === '' ? 'Without a section' : section}\n`,
        table(['setting', 'default', 'what it does'], list.map(row)),
      ].join('\n'),
    ),
  ].join('\n');
}

const introduction = `# Settings

Use this page to look up a setting of \`idctl.yaml\`, its default and its environment variable.

The file is YAML, and every setting is optional. \`idctl config show --origin\` prints every value and where it comes from, and
\`idctl config check\` checks a change before you restart the daemon. [The example
file](../../config/idctl.example.yaml) has every setting with its default.

A variable overrides the file. Separate the items of a list with commas. For a secret, the variable with \`_FILE\` added names a
file that contains the value. A duration is a number with \`s\`, \`m\`, \`h\` or \`d\`.

After a change, *reload* means that \`systemctl reload idctl\` is enough. All other settings need \`systemctl restart idctl\`.
`;

function row({ key, env, kind, default: usual, help, secret }: Setting): string[] {
  const facts = [
    ...(kind === 'list' ? ['A list.'] : []),
    ...(secret ? ['A secret.'] : []),
    ...(isReloadable(key) ? ['*Reload.*'] : []),
  ];
  return [
    `${code(key)}<br>${code(env)}`,
    isNone(usual) ? '' : code(written(usual)),
    [sentence(help), ...facts].join(' '),
  ];
}

function isNone(usual: unknown): boolean {
  return usual === undefined || (Array.isArray(usual) && usual.length === 0);
}

function written(value: unknown): string {
  return stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trimEnd();
}
