/**
 * The words that mean the same in every program, whatever its names are.
 * @module
 */

function toWords(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}

/** What no program can use as a name of its own, and what everybody takes for what it is in the language. */
export const FIXED_WORDS: ReadonlySet<string> = toWords(`
  await break case catch class const continue debugger default delete do else enum export extends false finally for
  function if implements import in instanceof interface let new null package private protected public return static
  super switch this throw true try typeof var void while with yield
  any bigint boolean never number string undefined unknown
  AbortSignal Array Boolean Date Error Infinity JSON Map Math NaN Number Object Promise Set String
`);

/** Words that are names in one place and belong to the language in another. */
export const OUTSIDE_WORDS: ReadonlySet<string> = toWords("as async of");

/** Members that are named outside of the program: by the language, and by the API of Kubernetes. */
export const OUTSIDE_MEMBERS: ReadonlySet<string> = toWords(`
  aborted addEventListener any ceil delete every filter floor get has length map max parse race releaseLock replace set
  size slice
  metadata renewTime spec taints
`);
