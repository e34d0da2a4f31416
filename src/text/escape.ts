import { replaceUnseen } from './unseen.ts';

/** The text with invisible characters spelled out as in JSON (security X9). */
export function escaped(text: string): string {
  return replaceUnseen(text, (hidden) =>
    Array.from({ length: hidden.length }, (_, at) => {
      return `\\u${hidden.charCodeAt(at).toString(16).padStart(4, '0')}`;
    }).join(''),
  );
}

const references: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** The text escaped for HTML, also in an attribute. */
export function escapedHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => references[sign] ?? sign);
}
