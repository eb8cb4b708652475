import java.io.*;
import java.util.*;
import java.util.regex.*;
import java.util.stream.Collectors;

/** What the adapter needs of JSON, which the JDK does not read. */
final class Json {
    private static final Pattern WORD =
            Pattern.compile("\"(?:\\\\.|[^\"\\\\])*\"|[{}\\[\\]]|[^\\s,:{}\\[\\]\"]+");
    private static final Pattern ESCAPE = Pattern.compile("\\\\(u....|.)");

    /** Reads a message's header, and returns the length of its body; -1 at the end of the stream. */
    static int readHeader(DataInputStream in) throws IOException {
        StringBuilder header = new StringBuilder();
        for (int next; header.indexOf("\r\n\r\n") < 0; header.append((char) next))
            if ((next = in.read()) < 0) return -1;
        return Integer.parseInt(header.toString().replaceAll("\\D", ""));
    }

    static Object parse(String text) {
        Matcher words = WORD.matcher(text);
        words.find();
        return value(words);
    }

    private static Object value(Matcher words) {
        String word = words.group();
        switch (word) {
            case "{":
                Map<String, Object> fields = new LinkedHashMap<>();
                while (words.find() && !words.group().equals("}")) {
                    String name = unquote(words.group());
                    words.find();
                    fields.put(name, value(words));
                }
                return fields;
            case "[":
                List<Object> parts = new ArrayList<>();
                while (words.find() && !words.group().equals("]")) parts.add(value(words));
                return parts;
            case "true", "false":
                return word.equals("true");
            default:
                if (word.startsWith("\"")) return unquote(word);
                return word.equals("null") ? null : Double.valueOf(word).intValue();
        }
    }

    private static String unquote(String word) {
        return ESCAPE.matcher(word.substring(1, word.length() - 1)).replaceAll(escape -> Matcher.quoteReplacement(
                escape.group(1).length() > 1 ? Character.toString(Integer.parseInt(escape.group(1).substring(1), 16))
                        : escape.group().translateEscapes()));
    }

    static String write(Object value) {
        if (value instanceof String text)
            return text.chars().mapToObj(each -> " !".indexOf(each) < 0 && (each < '#' || each > '~' || each == '\\')
                    ? String.format("\\u%04x", each) : Character.toString(each))
                    .collect(Collectors.joining("", "\"", "\""));
        StringJoiner parts = value instanceof Map ? new StringJoiner(",", "{", "}") : new StringJoiner(",", "[", "]");
        if (value instanceof Map<?, ?> map) map.forEach((name, part) -> parts.add(write(name) + ":" + write(part)));
        else if (value instanceof List<?> list) list.forEach(part -> parts.add(write(part)));
        else return String.valueOf(value);
        return parts.toString();
    }

    @SuppressWarnings("unchecked")
    static Map<String, Object> object(Object value) {
        return (Map<String, Object>) value;
    }
}
