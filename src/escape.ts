import { replaceUnseen } from './unseen.ts';

/** The text with what cannot be seen spelled out, as JSON writes it (security X9). */
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

/** The text as it stands in HTML, in an attribute too. */
export function escapedHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => references[sign] ?? sign);
}
