import type { Command } from 'commander';
import { noun, verb } from '../command.ts';
import { masked } from '../mask.ts';
import { readConfiguration } from '../operator.ts';

/** Declares `idctl config`. */
export function addConfigCommands(program: Command): void {
  const config = noun(program, 'config', 'The configuration in force', 'idctl config show');
  verb(config, 'show', {
    summary: 'Print every setting, its value and where it comes from',
    example: 'idctl config show --json',
    run: async (call) => {
      const loaded = await readConfiguration(call.flags);
      const { settings } = await import('../../config/settings.ts');
      const views = settings().map(({ key, secret }) => ({
        key,
        value: shown(settingIn(loaded.config, key), secret),
        origin: loaded.origins.get(key) ?? 'default',
      }));
      call.note(
        loaded.file === null ? 'No configuration file; defaults and environment.' : `From ${loaded.file}`,
      );
      const fields = [
        ['Key', (view: View) => view.key],
        ['Value', shownText],
        ['From', (view: View) => view.origin],
      ] as const;
      call.table(views, fields, 'There are no settings.');
    },
  });
  verb(config, 'check', {
    summary: 'Check the configuration; exit 2 says what is wrong with it',
    example: 'idctl config check --config ./idctl.yaml',
    run: async (call) => {
      const { file, warnings } = await readConfiguration(call.flags);
      for (const warning of warnings) call.note(`warning: ${warning}`);
      call.show({ ok: true, file, warnings }, [
        ['Valid', (view) => view.ok],
        ['File', (view) => view.file],
      ]);
    },
  });
}

interface View {
  key: string;
  value: unknown;
  origin: string;
}

function shownText({ value }: View): string | null {
  if (value === null || value === undefined) return null;
  return Array.isArray(value) ? value.join(', ') : String(value);
}

function shown(value: unknown, secret: boolean): unknown {
  return secret && typeof value === 'string' ? masked(value) : (value ?? null);
}

function settingIn(tree: unknown, key: string): unknown {
  return key.split('.').reduce<unknown>((node, name) => {
    return typeof node === 'object' && node !== null
      ? Object.getOwnPropertyDescriptor(node, name)?.value
      : undefined;
  }, tree);
}
