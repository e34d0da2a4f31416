import { stringify } from 'yaml';
import { type Setting, settings } from '../../src/config/setting-list.ts';
import {
  bold,
  entry,
  example,
  heading,
  italic,
  page,
  paragraph,
  type Roff,
  sentence,
  subheading,
  title,
} from './roff.ts';

/** The page of the configuration file: every setting, from the schema. */
export function settingsPage(version: string): Roff {
  const sections = Map.groupBy(settings(), ({ key }) =>
    key.includes('.') ? key.slice(0, key.indexOf('.')) : '',
  );
  return [
    title('idctl.yaml', 5, version),
    heading('NAME'),
    'idctl.yaml \\- configuration of idctl\n',
    heading('DESCRIPTION'),
    ...description,
    heading('SETTINGS'),
    ...[...sections].map(([section, list]) =>
      [...(section === '' ? [] : [subheading(bold(section))]), ...list.map(settingEntry)].join(''),
    ),
    heading('EXAMPLE'),
    example(sample),
    heading('SEE ALSO'),
    paragraph(page('idctl', 1)),
  ].join('');
}

const description = [
  paragraph(
    `idctl looks for the file in this order: ${bold('--config')}, ${bold('IDCTL_CONFIG')}, ${italic('$XDG_CONFIG_HOME/idctl/')}, ${italic('/etc/idctl/')}. The file is YAML, and every setting is optional. An unknown name is refused, with the nearest known name. Relative paths are relative to the folder of ${italic('idctl.yaml')}.`,
  ),
  paragraph(
    `The variable shown with a setting overrides the file. Separate the items of a list with commas. For a secret, the variable with ${bold('_FILE')} added names a file with the value. A systemd credential with the name of the setting is read too.`,
  ),
  paragraph(
    `${bold('idctl config show --origin')} prints every value and its source. ${bold('idctl config check')} checks the configuration.`,
  ),
];

function settingEntry({ key, env, kind, default: usual, help, secret }: Setting): Roff {
  const none = usual === undefined || (Array.isArray(usual) && usual.length === 0);
  const facts = [
    bold(env),
    ...(kind === 'list' ? ['a list'] : []),
    ...(secret ? ['a secret'] : []),
    ...(none ? [] : [`default: ${bold(written(usual))}`]),
  ];
  return entry(bold(key), `${sentence(help)}\n.br\n${facts.join(', ')}`);
}

function written(value: unknown): string {
  return stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trimEnd();
}

const sample = `baseUrl: https://id.example.com
listen: 127.0.0.1:8420
database:
  url: postgres://idctl@db.example.com/idctl
mail:
  smtpUrl: smtps://idctl@mail.example.com
outbound:
  allow: [idp.internal, 10.0.0.0/8]
http:
  trustedProxies: [127.0.0.1]`;
