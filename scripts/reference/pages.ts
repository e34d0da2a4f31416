import { commandsPage } from './commands.ts';
import { eventsPage } from './events.ts';
import { refusalsPage } from './refusals.ts';
import { settingsPage } from './settings.ts';

/** Every page of docs/reference/ by its file name, made from the code. */
export async function referencePages(): Promise<Map<string, string>> {
  return new Map([
    ['commands.md', await commandsPage()],
    ['events.md', eventsPage()],
    ['refusal-codes.md', refusalsPage()],
    ['settings.md', settingsPage()],
  ]);
}
