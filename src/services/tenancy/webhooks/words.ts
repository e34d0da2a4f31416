import type { SettingWords } from '../../foundation/setting-words.ts';

/** The words for the settings of a webhook. */
export const webhookWords = {
  url: {
    label: 'URL',
    about: 'The URL that the events are sent to. It must not contain credentials.',
  },
  events: {
    label: 'Events',
    about: 'The kinds of events to send, or groups such as scim.*; by default all.',
    options: {
      '--events <list>': 'kinds or groups such as scim.*, separated by commas (default: all)',
    },
  },
  enabled: {
    label: 'On',
    about: 'Whether events are sent. New events are not kept for a disabled webhook.',
  },
} satisfies Record<string, SettingWords>;
