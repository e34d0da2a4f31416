// The few macros of man(7) that the pages need. Only these functions escape text from the program.

/** A piece of a page, ready to print. */
export type Roff = string;

/** Plain text. Escapes characters that roff interprets, and names non-ASCII characters by code. */
export function text(plain: string): Roff {
  return plain
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('…', '...')
    .replace(
      /[^\x20-\x7e\n]/gu,
      (sign) => `\\[u${sign.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}]`,
    )
    .replace(/^([.'])/gm, '\\&$1');
}

/** Text for the reader to type: quotes, tildes and similar signs stay as they are. */
function typed(plain: string): Roff {
  return text(plain)
    .replaceAll("'", '\\(aq')
    .replaceAll('`', '\\(ga')
    .replaceAll('~', '\\(ti')
    .replaceAll('^', '\\(ha');
}

export const bold = (plain: string): Roff => `\\fB${typed(plain)}\\fR`;
export const italic = (plain: string): Roff => `\\fI${typed(plain)}\\fR`;

/** Flags, arguments and placeholders, as manuals show them: text to type bold, others italic. */
export function syntax(plain: string): Roff {
  return plain
    .split(/(<[^>]*>|[[\]|,] ?| )/)
    .map((part) => {
      if (part === '' || /^[[\]|, ]+$/.test(part)) return text(part);
      return /^<.*>$/.test(part) ? italic(part.slice(1, -1)) : bold(part);
    })
    .join('');
}

/** The first lines of a page. They turn off hyphenation. `HY` keeps it off after an example. */
export function title(name: string, section: number, version: string): Roff {
  return `.TH "${text(name.toUpperCase())}" "${section}" "" "idctl ${version}" "idctl manual"\n.nr HY 0\n.nh\n.ad l\n`;
}

export const heading = (plain: string): Roff => `.SH ${text(plain)}\n`;
export const subheading = (roff: Roff): Roff => `.SS ${roff}\n`;
export const paragraph = (roff: Roff): Roff => `.PP\n${roff}\n`;

/** A term, with its indented description below. */
export const entry = (term: Roff, said: Roff): Roff => `.TP\n${term}\n${said}\n`;

/** Lines that keep their form. */
export function example(plain: string): Roff {
  return `.PP\n.EX\n${typed(plain)}\n.EE\n`;
}

/** Another page, as manuals name it. */
export const page = (name: string, section: number): Roff => `${bold(name)}(${section})`;

/** A line of help as a sentence: with a capital, if it begins with a word, and a full stop. */
export function sentence(line: string): Roff {
  const begun = /^[a-z][a-z-]*[ ,;]/.test(line)
    ? line.charAt(0).toUpperCase() + line.slice(1)
    : line;
  return text(/[.:]$/.test(begun) ? begun : `${begun}.`);
}

/** A description as paragraphs; lines that are indented keep their form. */
export function prose(plain: string): Roff {
  return plain
    .split('\n\n')
    .map((part) =>
      /^ /.test(part) ? example(part.replace(/^ {2}/gm, '')) : paragraph(sentence(part)),
    )
    .join('');
}
