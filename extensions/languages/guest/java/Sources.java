import java.io.*;
import java.nio.file.*;
import java.util.*;
import java.util.regex.*;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;

/** The classes that are built of the workspace's files: where each comes from, and which lines have code. */
final class Sources {
    private static final Pattern ROW = Pattern.compile(
            "(?m)^Compiled from \"(.*)\"|^(?:[\\w@]+ )*(?:class|interface) ([^ <{]+).*\\{$"
            + "|^ +line (\\d+):");
    private final Map<String, String> paths = new HashMap<>();
    private final Map<String, TreeSet<Integer>> lines = new HashMap<>();

    /** The JDK's own reader of class files says it. */
    Sources(String workspace, String classes) throws IOException {
        List<String> files = find(workspace, ".java"), arguments = new ArrayList<>(List.of("-l", "-p"));
        arguments.addAll(find(classes, ".class"));
        StringWriter said = new StringWriter();
        PrintWriter out = new PrintWriter(said);
        ToolProvider.findFirst("javap").orElseThrow().run(out, out, arguments.toArray(new String[0]));
        String source = "", path = null;
        for (Matcher row = ROW.matcher(said.toString()); row.find(); ) {
            if (row.group(1) != null) {
                source = row.group(1);
            } else if (row.group(2) != null) {
                String name = row.group(2), relative = "/" + name.replaceAll("[^.]*$", "").replace('.', '/') + source;
                path = files.stream().filter(each -> each.endsWith(relative)).findFirst().orElse(null);
                if (path != null) paths.put(name, path);
            } else if (path != null) {
                lines.computeIfAbsent(path, none -> new TreeSet<>()).add(Integer.valueOf(row.group(3)));
            }
        }
    }

    private static List<String> find(String folder, String suffix) throws IOException {
        try (Stream<Path> found = Files.walk(Path.of(folder))) {
            return found.map(Path::toString).filter(each -> each.endsWith(suffix)).toList();
        }
    }

    /** The file that a class is in; null if it is none of the workspace. */
    String pathOf(com.sun.jdi.ReferenceType type) {
        return paths.get(type.name());
    }

    TreeSet<Integer> linesOf(String path) {
        return lines.getOrDefault(path, new TreeSet<>());
    }

    List<String> classesIn(String path) {
        return paths.keySet().stream().filter(name -> paths.get(name).equals(path)).toList();
    }
}
