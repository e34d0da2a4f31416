import type { z } from 'zod';
import type { SsoConnection } from '../../../database/models/sso-connection.ts';
import { parse } from '../../../input.ts';
import { type Named, namedIn } from '../connections/approval.ts';
import { commonSettingsOf, metadataNames, ssoSettingsOf } from '../connections/sso.ts';
import { type changeSsoInput, type SsoSettings, settingsOfKind } from './schema.ts';

// A change of a connection gives some settings of one kind; the others keep their values.

type Change = Omit<z.output<typeof changeSsoInput>, 'org'>;

/** All settings after a change. If the kind changes, only the common settings keep their values. */
export function changedSettings(stored: SsoConnection | null, change: Change): SsoSettings {
  const kind = change.kind ?? stored?.kind ?? 'oidc';
  const before =
    stored === null ? {} : stored.kind === kind ? ssoSettingsOf(stored) : commonSettingsOf(stored);
  // Metadata that is given as text takes the place of a URL.
  const text = change.metadataXml === undefined ? {} : { metadataUrl: null };
  return requireSettings({ ...before, ...text, ...change, kind });
}

/** All settings as the kind has them. Refuses settings of another kind, and missing ones. */
export function requireSettings({
  kind,
  ...given
}: Pick<SsoSettings, 'kind'> & object): SsoSettings {
  // A setting of another kind that is undefined was not given.
  const named = Object.entries(given).filter(([, value]) => value !== undefined);
  const own = { kind, ...Object.fromEntries(named) };
  return kind === 'saml' ? parse(settingsOfKind.saml, own) : parse(settingsOfKind.oidc, own);
}

/** The settings that a change names. Its metadata names all values that follow from it. */
export function namedSettings(change: Change): Named {
  const named = namedIn(change);
  const isWhole = change.metadataUrl !== undefined || change.metadataXml !== undefined;
  return isWhole && Array.isArray(named) ? [...named, ...metadataNames] : named;
}
