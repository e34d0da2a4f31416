import { stringify } from 'yaml';
import { type Setting, settings } from './setting-list.ts';

/** The text of an `idctl.yaml` with these settings, by key. A help text precedes each. */
export function renderConfig(values: Readonly<Record<string, unknown>>): string {
  const chosen = settings().filter(({ key }) => values[key] !== undefined);
  return render(
    'Configuration of idctl. `idctl config show` prints all settings, with values and sources.',
    chosen,
    (setting) => [comment(setting.help), entry(setting, values[setting.key])],
  );
}

/** The text of `config/idctl.example.yaml`: each setting, commented out, with help and default. */
export function renderExample(): string {
  return render(
    'All settings of idctl with their defaults. Uncomment what you need.',
    settings(),
    (setting) => [
      comment(`${setting.help} (${setting.env})`),
      // No space after `#`, so that settings differ from help texts.
      `#${entry(setting, setting.default)}`,
    ],
  );
}

function render(title: string, list: Setting[], lines: (setting: Setting) => string[]): string {
  const text = [comment(title)];
  let open: string[] = [];
  for (const setting of list) {
    const path = setting.key.split('.').slice(0, -1);
    const shared = path.findIndex((name, depth) => name !== open[depth]);
    const from = shared === -1 ? path.length : shared;
    if (path.length === 0 || from === 0) text.push('');
    for (let depth = from; depth < path.length; depth += 1)
      text.push(`${indent(depth)}${path[depth]}:`);
    text.push(...lines(setting).map((line) => indent(path.length) + line));
    open = path;
  }
  return `${text.join('\n')}\n`;
}

function comment(text: string): string {
  return `# ${text}`;
}

function entry({ key }: Setting, value: unknown): string {
  const name = key.slice(key.lastIndexOf('.') + 1);
  if (value === undefined) return `${name}:`;
  return `${name}: ${stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trimEnd()}`;
}

function indent(depth: number): string {
  return '  '.repeat(depth);
}
