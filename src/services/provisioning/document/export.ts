import type { z } from 'zod';
import { documentVersion, type exportedDocument } from './schema.ts';
import { sectionNames } from './section.ts';
import { type State, sections } from './sections.ts';

/** The exported document without the URL of its schema. */
type Exported = Omit<z.output<typeof exportedDocument>, '$schema'>;

/**
 * The document that describes the organization's current state. Its order is stable. It does not
 * contain ids, times, secrets or derived values.
 */
export function documentOf(state: State): Exported {
  const shown = sectionNames.map((name) => [name, sections[name].view(state)] as const);
  const document = {
    idctl: documentVersion,
    ...Object.fromEntries(shown.filter(([, section]) => section !== undefined)),
    ...sectionsAbove(state),
  };
  // The output schema of the export checks each section.
  return document as Exported;
}

/** Names the sections above a cap: those of the organization, and those of a document. */
function sectionsAbove(state: State): Pick<Exported, 'aboveCaps'> {
  const aboveCaps = sectionNames.flatMap((section) => {
    const { cap } = sections[section];
    const entries = cap?.count(state) ?? 0;
    return cap !== null && entries > cap.max ? [{ section, entries, most: cap.max }] : [];
  });
  return aboveCaps.length === 0 ? {} : { aboveCaps };
}
